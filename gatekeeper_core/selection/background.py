"""How common a term is in everyday dialogue, in parts per million: what a young conversation cannot know.

Each number holds for the terms after it. Derived counts, no text; sources and licences are named in the NOTICE file.
Written by ``python -m benchmarks.build_background``, not by hand.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["background_frequencies"]


@cache
def background_frequencies() -> Mapping[str, float]:
    """Return the relative frequency (0..1) of the commonest English stems and Chinese character pairs.

    Terms that are not listed are rarer than all that are. The table is read on first use and never changes.

    >>> background_frequencies()["friend"] > background_frequencies()["idea"]
    True
    """
    shares: dict[str, float] = {}
    share = 0.0
    for word in (_ENGLISH + _CHINESE).split():
        if word.isdigit():
            share = int(word) / 1e6
        else:
            shares[word] = share
    return MappingProxyType(shares)


_ENGLISH = """
5460 lov 4793 good 4596 work 3867 tim 3521 great 3459 try 3447 feel 2891 today help 2829 friend 2471 nic sound 2458
think 2446 favorit 2298 music 2285 interest 2248 dog 2224 learn 2150 lif 2125 liv 2063 play movi 1977 cool 1915 know
1853 new enjoy 1841 watch 1717 fun 1668 job 1655 day 1618 food 1520 school 1495 read 1470 person travel 1359 book 1347
nam 1310 suggest 1285 chat 1260 kid 1248 hop find 1223 year 1198 listen 1174 recommend 1161 hear 1149 understand talk
eat 1124 relax 1099 advic shar 1087 experienc walk 1075 best old 1062 plan 1050 car 1038 gam 1025 ai cook 1001 recent
988 hobby 976 better activity skill 951 fami 939 look 902 differ right 889 hom happy 877 beautiful 865 cours 828 cat
815 awesom color danc 803 big 791 pet spend 778 parent improv 766 long wish exercis 754 hard 729 companion choos plac
717 money health 704 welcom 679 next 667 sing prefer emotion 655 stay marry consider hors run 642 two important farm
problem 630 sorry country method 618 dad tak hous drink study hat 605 back believ hair writ mean 593 glad physical 581
career support high city start 568 mak bit visit practic call 556 wif sport 544 meet driv 531 inspir win grow 519
world rock first body mind shop 507 mov 494 red art fish animal outdoor idea 482 stress park teach dish 469 especial
weather girl dream 457 littl birthday video song hik 445 definit haha bring excit break difficult buy 432 blu trip
teacher pay paint retir 420 way scenery bad mom luck child class 408 futur climb languag challeng 395 tonight provid
company meditat typ rid weekend show 383 colleg thre luna amaz night explor tast ability 371 pizza diet story
opportunity 358 fre tru small busy swim band develop wear requir los speak 346 photography coffe morn even maintain
question 334 part human month 321 husband wonderful yoga chicken sun bik museum current prepar 309 young delicious
knowledg process local build boy 296 stuff remember bet tired famous cultur professional program ask sister mountain
bor fry novel concert decid 284 older onlin history tea relat volunteer breath train fac styl valu 272 italian father
specific tomorrow chines common jack man age fan boyfriend issu week olympic chang bak 259 natural gym assistant black
goodby reliev coach lon grad focus toy strong saf 247 outsid self additional classic techniqu clos last open sad leav
sell worry turn 235 summer born congratulation funny john guitar natur spain tv spanish short workout simpl finish sav
field follow task anxious deep woman set imagin 222 town cant seen water chocolat tip abl sweet check cuisin moment
light confident clean happen collect 210 mickey most business guess alright uniqu attention linda exampl need want
draw hour participat shoot avoid touch burger 198 ice somalia cancer internet ha saw hot full comfortabl bas positiv
addition henry beach sens eye stop seek mental computer cloth attend topic lik personal skateboard roll restaurant com
garden communicat power encounter 185 disney singl super special social technology twitter classical adopt slow
perfect taco shelter model scorpion constant recip keep possibl truck weigh bunny son bee block not miss relationship
artist fly 173 cream fin lat forward french garlic piano construct fitness alot europ real popular rich pleasant zhang
spiritual journey reduc continu turtl action pressur search stor folk engineer form wait student blond overcom achiev
industry function cut compet character celebrat gift knit allow 161 ah gold military taylor death spar agre fast mous
alon crazy sid colorado final facebook soccer tough green english later cold creativ psychology progress helpful
suitabl playground gray direction soda freez normal confus interview group master sal creat head bar top donut
situation honest catch dat sit rac pass 148 aunt someday church congrat chanc team bread fiv vegan orang excellent
rest easy fresh cooki cultural goal efficient dress party lab hurt duty equip frank total major cow brother fit main
perform record bank produc surviv releas express complet habit talent serv 136 winter swift leo king various lawyer
studio ford afternoon nop gymnastic yellow door chess four wrong expensiv nascar doctor organic pink useful sho war
shap increas accompany absolut exhaust tractor adjust horizon step fav joy number charm baby hang stat second
environment plot careful marathon certain rais them nurs solv caus 124 medal anymor street metal german blood enjoyabl
early tennis forget chip see far paella ready lit brit air practical patienc benefit degre doubl heart deal meat
pleasur gain broaden photo appreciat servic weak pick row community balanc fir scar instrument documentary exhibit
manag pursu piec 111 offic ohio third offer several everywher library brown apartment royc britney spear insur smart
georg what impressiv raw spring sleep army sunday afraid ancient colleagu meaningful attitud remind singer pop papaya
fashion shepherd dinner pictur position potential craft tend event order word vacation handl clear film card cycl
graduat robot end guy matter pro encourag meal effort warm result succeed clown tan doll grill includ perspectiv
painter apply suit 99 vanilla treadmill machin hopeful arm die dye poor horror lifestyl mexico neat whit purpl italy
custodian put leagu columbus chemistry ros hip yesterday kitchen passion worth mood creativity pork anytim basic
badminton forc worker holiday lesson ingredient reflection successful escap unfortunat hug musician farmer stick
market send bird option assist fulfil term complex mention muscl landscap return leg depress financ fill stretch
struggl scen add season join point fall wrestl fruit articl motivat 86 gas pregnant sometim kind american trooper
mechanical soft daily ocean charli christopher violin homeless aerosmith weird bmw road bookstor gav canada mal
florida kindergarten trad larg freedom lunch energy vegetabl scienc emily attract kung enhanc enrich stir content
alleviat information jason boss sour um society oliv drug board subject guid musical station dealer vegetarian stand
upset juvenil helmet sea wrestler level room key discuss opinion expand overwhelm conversation tour shirt particular
flavor comfort general network effectiv concept comedy intelligent tell receiv recover entir feed mustang figur list
alien detail destination frustrat act reach realis describ 74 chees baseball god nearby past south strang aww triplet
deaf due track twitch alabama let blind twin extra seafood insid truly sugar sensitiv six mini middl coupl homework
librarian routin chicago alcoholic grandfather hospital basketball yacht pinto serious scary product say healthier
agility feminist shawarma glass yal femal gotta wed fact lucy magical detention fantastic heck pot helpless sery
condition anywher optimistic steam tourist huangshan relevant pao profound humanity one' reasonabl accord sauc roland
hit waffl shoplift ston honor center mil calm flower spic quality moderat uncertainty organis parameter count troubl
wonder roleplay thirty depend sibl gambl bed comic area danger allergy design connect impress camp superpower club
variety promot vivid spot quiet burn ton bath kitty charity dislik refresh wis 62 ex therapist yea grandkid franc peac
guidanc th cheeseburger fancy reclus skin electrician ghost ski dud skinny afford psychic van counsel retriever lim
plus nervous economic medicin twic mexican north carolina york rib yummy amount trump fluent dear solar panel player
veggi rap metabolism awful secret rainbow match county golden insan jazz told rob shift sushi direct sichuan refer
contact hint civilis tutorial interpersonal companionship insight decisiv seasid romanc lak historical ensur introvert
western gary susan boat bob bill island hungry driver eater hero waitress period material motorbik project websit lie
approach expect giv cod kit resourc rescu actor drop uniform pain view switch banker snack kayak rul surf sunset plant
limit girlfriend rain shock distraction activ assess review wid sooth control obstacl member steal ruffl lack purchas
satisfy 49 shipyard navy donat mommy spook salesman united india california alaska admir rol faint homecom educat tir
responsibl starcraft somewher factory profession stunt buddy lazy football huh cali grandchild everyday pool aw cup rd
jail sail bus grandma ufc wors pony reward lawn dead supportiv vintag dry cash athlet easier pa gear dancer ris path
complicat terribl athletic beneficial news christian grand precious candy colorful soup med skydiv excel forbidden
divers steak hundr wind unsur solitud respect easi bold anti research necessary artistic bass life' reflect sci fi
literatur modern itinerary platform countrysid today' boost mindset crucial will existenc identify elegant atmospher
qingdao noodl energetic shawshank redemption fiction ivy mentality accept report discourag manager milk exact adult
loud mix addict earn ball potato sick sleev letter striv pursuit beat rar suppos teen deliver cloud sew affect cop
trainer own reason previous laugh embarrass chas pol fear skateboarder dump fascinat lin box pan salad tradition pair
adventur distanc psychological notic answer deepen tre captur app factor appropriat smooth bother stream genr hand
effect fight proud cost medication fair hold bon relativ visual accurat interact exchang determin observ thrill rout
egg stimulat fail 37 latest daddy lottery hockey spirituality brilliant fully till vet ree queen eager fellow lover
unusual steady mother national tupac magic surgery sort softball sweaty protect greatest yum boil shrimp nah bubbl
jean loos intak saturday averag respond behind thanksgiv haircut medical alcohol batch died corner jefferson pack
becom radiohead detectiv survivor taxi dark roof tanya manhattan motorcycl gross kim fallout elvis africa amazon honey
twenty eighty cor half lil wayn central west mail rough trabajo unabl uh ww personality media lego unhealthy awww
therapy miami kinda post eight journal stabl spiderman data tofu low passionat bean awe photographer dang larry casual
wash taken streamer circl spac ping pong unhappy cia banjo roller worst overtim lighter michigan dryden multipl usual
eh cas nap brav sheep chef bulldog hummus culinary ethic fashionabl hula person' ginger representativ literary impact
heritag wall transport gentl enthusiasm schedul confid gradual mission grateful homemad overall foundation expression
jay roast leisur joker competitiveness trek humorous stranger persist discomfort
"""

_CHINESE = """
7337 知道 4939 可以 4650 这个 3627 一个 3552 电话 3157 时间 2984 小时 2875 没有 2495 帮我 2359 还有 2261 以上 2140
你知 2091 谢谢 2070 最佳 2016 话是 1991 你好 1985 一下 1982 有什 1979 分以 1976 喜欢 1946 不错 1909 我想 1843 分是
1742 价格 1739 多少 1727 获得 1721 是一 1706 找一 1524 一家 客气 1509 我推 1490 附近 1433 哪些 1387 是多 1308 您去
1302 非常 1290 有哪 1284 给我 1272 音乐 1257 这家 1245 国际 1235 出生 1232 谢你 1226 地方 1214 开放 1196 这里 1181
一些 1178 是哪 1090 间是 1075 在哪 1065 不客 1062 我知 1047 公司 1038 都是 他是 1014 自己 999 发行 993 都有 980 建议
977 还是 959 中国 950 我找 938 这部 935 记得 932 是在 917 问题 911 朋友 889 符合 886 博物 868 提供 我们 部电 853 这些
844 是什 作品 841 哪里 不过 832 找个 826 你有 道他 823 想找 810 看过 801 得过 792 要求 格是 780 也是 771 我还 768 个人
很多 762 你可 759 点有 一部 753 是北 747 哪年 738 当然 735 想去 732 在北 729 大街 725 您推 722 抱歉 王府 觉得 看看 713
有北 艺术 而且 707 时候 692 道这 689 告诉 683 服务 680 确实 674 我也 662 业时 659 诉我 大学 护国 644 为您 我查 634
不知 631 其他 625 需要 610 国家 不用 听过 604 聚德 601 是不 598 就是 这是 595 全聚 制作 586 比较 不是 580 但是 那你
577 吃饭 574 去北 571 时长 真是 是谁 568 我一 565 有没 559 听说 555 哪个 552 它家 549 佳男 放时 543 有啥 540 合您 你看
年出 534 这样 是很 528 很好 这首 522 这张 519 美国 主角 516 酒店 北京 景点 周边 餐馆 推荐 评分 电影 地址 游玩 门票
个景 人均 消费 专辑 荐一 边有 均消 址是 荐您 地铁 奖最 导演 玩时 址在 京市 公园 票价 演员 大酒 铁站 物馆 餐厅 边还
住宿 个评 张专 首歌 营业 歌手 家餐 免费 馆有 影片 上映 费是 国寺 店住 故宫 型酒 歌曲 边景 总店 个酒 能玩 台湾 513 首都
饭店 510 很不 507 景区 504 请帮 501 前门 感觉 498 世界 店有 能帮 他家 具体 今天 495 生活 很有 492 家酒 安门 主演 486
查一 483 分在 477 用餐 474 车牌 是我 471 车型 周一 那这 467 城区 464 尝试 461 选择 中心 奥斯 458 点游 家评 455 广场
宾馆 多久 可是 斯卡 452 长城 制片 449 我要 天安 小吃 446 我记 它周 443 玩多 帮助 440 或者 最近 437 然后 周日 最好 你还
起来 434 边餐 找到 还真 学习 代表 431 烤鸭 428 那它 425 现在 如果 他们 422 京天 个餐 应该 419 好玩 416 表作 413 有这
有其 以去 410 麻烦 点周 407 比如 清华 近有 奖项 401 京全 际酒 适合 它是 唱片 398 门广 下这 边都 门大 有一 395 出租
店周 术馆 以玩 392 边没 感谢 她是 386 太好 长是 是由 379 想吃 少钱 是他 376 京首 府井 370 王朝 个我 367 天伦 伦王 朝酒
清楚 我觉 香港 364 井店 票是 特别 也很 工作 361 园店 男主 358 金曲 355 以帮 鸭店 乐园 影节 曲奖 352 希望 有名 349 就去
我会 346 八达 达岭 类型 朝阳 租车 你去 很高 经济 有些 金像 像奖 340 还不 337 要去 我看 厉害 编剧 年发 334 寺小 等等
意思 331 您好 有景 道它 328 吃店 大奖 325 打算 你能 馆周 最低 那他 提名 还记 322 低价 再见 好像 美食 最喜 319 馆吃
至周 很喜 去过 成就 316 高档 寺总 不好 313 您要 风景 里面 我最 风格 作人 310 愉快 济型 说过 307 恭王 一位 旅游 今年
304 档型 一至 我很 名字 已经 听起 年上 票房 301 条件 哪家 日本 297 用客 第一 火锅 一定 294 有酒 京贵 边酒 并且 291
动物 格在 舒适 价是 自然 连锁 关于 年度 288 后我 有问 收到 活动 285 吃完 兴趣 元以 282 有别 多大 279 道菜 完饭 店是
贵都 都大 去看 都很 届奥 276 给您 是这 真不 电视 流行 273 家人 荐菜 有很 270 些餐 您可 这两 也可 你喜 他还 267 你们
个地 你说 佳女 英国 毕业 264 阳区 是个 演是 261 京西 有点 好吃 我没 际大 也不 际电 258 适型 华大 是周 美术 经典 岁数
过第 255 些景 我打 东城 鼓楼 站店 好意 名气 252 那我 天坛 个电 分享 249 你对 海底 影金 摇滚 246 查到 看一 去一 您看
值得 果你 243 这道 以游 颐和 和园 拍摄 方法 感到 240 吃到 海淀 荐你 天我 请问 学院 日出 生在 237 淀区 考虑 只有 还可
常感 道她 234 费在 长时 出品 不小 聊天 231 京海 型是 你帮 没问 228 给你 道哪 能够 机场 分钟 还获 225 两个 和你 我可
当年 生于 222 一起 国语 219 有餐 京大 关系 去这 看来 放松 金球 球奖 他出 216 给推 荐北 用谢 文化 些酒 边上 收录 212
有符 都宾 型和 锦江 再帮 不太 道是 故事 卡金 209 西城 是免 挺好 那就 必须 其它 我就 有时 佳导 历史 乐队 好听 创作 206
还想 术区 那里 国电 过他 作曲 它边 203 街店 能吃 豪华 京京 和车 楼店 算是 高兴 以尝 辑里 200 馆用 结束 商旅 旅酒 物园
些都 要找 森林 让我 我不 还知 届台 197 完全 多长 有查 烦你 和北 个价 休息 京国 便宜 都机 出发 一名 地区 美元 成立 乐风
194 饭我 里有 华型 是否 重要 感受 密云 更是 片人 一首 191 记下 你觉 啥好 不少 地附 站是 同时 不同 旺季 188 个票 不起
好地 欢迎 发展 联系 不要 有趣 好看 因为 有第 人是 主要 185 作为 角奖 家公 女歌 182 门店 牌是 京都 我喜 主题 去玩 位于
在这 属于 参观 鸟巢 亚洲 你听 所以 要多 179 岭长 发给 个能 在它 德烤 特色 旅行 有谁 小说 176 市朝 桥店 姚记 记炒 炒肝
肝店 方便 个游 几个 林公 计划 得这 我听 优秀 华语 173 玩结 店和 也有 是它 你一 来你 你要 艺人 司是 170 全符 合你 没关
家店 议您 家大 昌平 纪念 们去 华园 我感 一直 开始 对于 剧情 伴侣 167 京仪 仪大 看可 会议 什刹 刹海 事情 一张 此片 年轻
演唱 164 祝您 好多 近还 发地 京东 过我 片长 费开 161 信息 安排 想在 有评 世纪 都不 不多 家周 底捞 捞火 锁酒 试一 也获
男歌 158 华酒 味道 到一 我在 韩国 受欢 个很 体验 对他 没错 执导 演奖 他有 成功 你聊 爱好 候开 方式 155 出去 合适 介绍
常有 个门 更好 淡季 助你 152 你推 点可 不贵 好评 家有 大概 坐地 几点 你最 是有 语言 可能 尼斯 女主 节最 日上 届金 保持
149 去吃 名叫 设施 商务 位置 海洋 别是 达到 水立 立方 古北 实很 影是 港电 十大 提高 146 对不 剧院 我去 不算 查询 市口
近地 有故 注意 建筑 相信 国人 机会 是中 十岁 配角 十多 一种 湾金 实是 143 请给 市东 假日 都季 季商 议你 一般 个菜 多钱
话你 到这 自助 京亚 香山 体育 溜达 但我 成本 全球 实力 很大 能力 职业 健康 140 晚上 是太 大厦 我这 簋街 方面 过这 虽然
京饭 是非 其实 片奖 行音 身体 137 合条 下它 国国 您生 活愉 还行 烤肉 最后 另外 常好 受到 你也 他在 动画 组合 压力 片公
134 馆和 下次 一点 是挺 可不 我是 你想 二十 多岁 届香 获奖 131 想带 肯定 学校 下来 市海 祝你 要不 里人 这种 超级 那是
得是 那她 金马 说到 游戏 次年 127 菜有 以后 收费 尝尝 都在 部分 全天 我都 三里 出来 劲松 看这 个小 开心 转转 是获 最大
度最 技巧 124 个不 我对 满足 满意 京丰 相当 然风 游泳 分别 就不 是没 里可 让你 运动 生日 威尼 年成 121 能告 感兴 准备
请告 宋庄 书馆 景山 是几 技术 直门 山公 是你 支持 表演 三十 以及 他也 部影 品你 角提 喜剧 参加 行时 歌是 闭馆 近我 118
家博 我有 东路 念馆 都可 在看 洋馆 其中 灯市 票多 如何 科学 为你 据说 是美 和我 摄影 看到 爱情 哪部 得主 湾电 马奖 115
房间 女朋 宫餐 家最 想和 有个 烦您 胡同 价位 明天 店附 京鹏 鹏润 润国 里屯 两家 城店 周围 就在 个有 不清 图书 和目
得一 孩子 育场 啥时 根据 让人 卡最 于他 影奖 文名 志强 进行 以让 销量 水镇 112 就行 碗居 顺义 能给 路店 要是 京前 那可
试试 正好 展览 还能 左右 第二 是出 是大 嬉水 行李 李寄 寄存 欢这 里能 改编 他获 获过 佳影 风云 十几 最受 个公 手奖 109
票免 你记 牛街 到北 店都 有好 去游 馆里 们可 通州 真没 较喜 园内 视剧 女演 出演 两届 业于 聊聊 间开 更加 票要 技能 106
科技 好酒 大剧 增光 光路 边找 北大 差不 和电 和朋 东来 来顺 家是 场店 亚奥 奥国 他景 协会 例如 你是 不光 四十 来很
我只 影我 男演 当时 乐奖 更多 出道 个专 做一 103 那好 挺多 欢乐 把它 像馆 有意 解一 太多 个可 北新 新桥 能游 京奥 心店
详细 啥景 在什 水乐 望你 一次 凭借 片是 五十 在美 美丽 通过 北水 寻找 陪伴 100 生动 有人 都符 周末 顺便 包子 热水 个非
京中 夫人 蜡像 有两 有中 挺不 中央 村店 乘坐 地和 以下 散步 间要 得去 议中 于北 随时 他可 那在 这也 人生 间你 原来
讲述 那关 也知 过哪 有多 得有 交流 天气 练习 97 小汤 汤山 去中 束后 市西 馆都 从北 时热 不能 京杜 杜莎 莎夫 人蜡 想要
在附 捷酒 就很 大栅 栅栏 址发 饭庄 玩一 国内 个是 圆明 明园 十渡 那个 丰台 不会 理解 市密 知识 专业 到你 是她 认识
动作 科幻 道有 佳国 辑是 阅读 94 请在 住下 带女 国贸 话给 日酒 衣服 环境 峡谷 格林 小吊 吊梨 梨汤 点都 卤煮 老店 友去
西直 奥体 体中 西单 出名 我比 可真 周二 说这 来着 得到 演都 他今 男配 得第 说他 影响 榜最 写作 情绪 91 野生 间提 区域
海碗 居北 京菜 路总 你感 这边 带上 多好 算找 是啥 品酒 快捷 点里 把这 点是 健身 时尚 有能 瑞尔 西客 客站 庄店 预约
跟我 来不 常不 家体 奇幻 度假 欢哪 为一 该怎 同名 英语 几岁 过程 作词 天开 思考 困难 享受 缓解 88 店北 花园 合我 去哪
话和 观复 复博 房山 四季 牡丹 且评 有天 桥卤 煮老 也没 白家 览馆 区东 街小 只是 料理 有找 口店 一样 民族 我俩 得很
方嬉 汽车 人民 人都 城市 看电 影视 认为 年纪 时也 大利 太清 才华 司发 过很 书籍 佳新 人奖 美好 云榜 绘画 停止 小琳 85
记一 不到 还挺 界公 京动 个时 园和 上网 有电 京朝 也行 林豪 豪泰 近没 看行 有您 题酒 是经 蓝色 亮马 荐给 有他 口地
要门 怀柔 定会 很棒 战争 植物 有才 影大 过奖 做什 是华 情感 努力 进入 人物 到很 排行 行榜 你需 力和 瑜伽 些方 82 所有
是高 哪一 去名 家电 个出 个提 公共 能提 能做 上我 关村 家园 宽带 个最 当代 问这 您找 温泉 绍一 咨询 我希 南路 您在
尔威 威连 锁饭 是人 坛店 点附 中华 可惜 国科 个好 公里 平区 是第 品有 对对 印象 一天 斯国 也喜 影学 亿美 纪录 他多
经纪 新人 担任 成员 呼吸 票贵 遇到 挑战 79 早餐 乐谷 北路 大钟 以考 道你 接受 停车 都没 店提 接待 想从 我和 去处 门内
您把 体地 道都 亦庄 们找 庄园 马桥 底世 博览
"""
