"""Words that stand for one another, as data: synonyms, kinds and their members, script variants.

Every list is general language, written for this library; none is drawn from a data set. The tables are built when they
are first used.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MANY_ANSWER", "TIME_ANSWER", "kinds", "simplified_characters", "synonyms"]


@cache
def synonyms() -> Mapping[str, tuple[str, ...]]:
    """Return, by word, the words that may stand in its place; English in lower case, not stemmed.

    >>> synonyms()["movie"], synonyms()["酒店"]
    (('film', 'cinema'), ('宾馆', '旅馆', '饭店'))
    """
    found: dict[str, dict[str, None]] = {}
    for group in map(str.split, f"{_SYNONYMS}|{_CHINESE_SYNONYMS}".split("|")):
        for word in group:
            found.setdefault(word, {}).update(dict.fromkeys(other for other in group if other != word))
    return MappingProxyType({word: tuple(others) for word, others in found.items()})


@cache
def kinds() -> Mapping[str, tuple[str, ...]]:
    """Return, by the word for a kind, common members of it (``sport``: ``football``, ``tennis``, …).

    >>> "tennis" in kinds()["sport"], "香蕉" in kinds()["水果"]
    (True, True)
    """
    rows = (row.partition(":") for row in (_KINDS + _CHINESE_KINDS).strip().splitlines())
    found: dict[str, tuple[str, ...]] = {}
    for names, _, members in rows:
        for name in names.split():
            found[name] = found.get(name, ()) + tuple(members.split())
    return MappingProxyType(found)


@cache
def simplified_characters() -> Mapping[str, str]:
    """Return the simplified form of the commonest traditional characters, by character.

    >>> "".join(simplified_characters().get(char, char) for char in "訂單與發貨")
    '订单与发货'
    """
    pairs = "".join(_VARIANTS.split())
    return MappingProxyType(dict(zip(pairs[::2], pairs[1::2], strict=True)))


_SYNONYMS = """
buy purchase | begin start launch | finish complete end | job work career profession occupation employment |
boss manager supervisor | colleague coworker teammate | kid child | baby newborn infant |
parent mom dad mother father | mom mum mother | dad father | grandma grandmother granny | grandpa grandfather |
wife husband spouse partner | boyfriend girlfriend partner | sibling brother sister | marry wedding marriage |
friend buddy pal | house home apartment flat | move relocate | reside live |
trip travel vacation holiday journey tour getaway | photo picture image photograph pic snapshot | movie film cinema |
show series tv | author writer | write writing story essay | song music tune track | concert gig performance show |
doctor physician hospital clinic medical | sick ill illness disease | hurt injury injure pain wound |
workout exercise gym fitness | car vehicle automobile | bike bicycle cycle | flight plane fly airline |
money cash fund | price cost fee charge | cheap affordable inexpensive | bill invoice | refund reimburse |
discount coupon | food meal dish | cook recipe bake | dinner lunch breakfast meal | restaurant cafe diner |
drink beverage | school college university | class course lesson | student pupil |
teacher instructor tutor professor | learn study | exam test quiz | big large huge | small little tiny |
quick fast rapid | happy glad joy excited thrilled | sad upset unhappy depressed | angry mad annoyed |
afraid scared fear | nervous anxious worry stress | stress destress relax unwind calm | tired exhausted | love adore |
enjoy favorite prefer | hate dislike | help support assist aid | gift present | win victory | lose defeat |
prize award trophy medal | competition contest tournament match | hobby interest pastime | dog puppy | cat kitten |
pet dog cat | garden plant flower | paint painting draw art | art artist artwork | beach ocean sea coast |
mountain hike trail | forest wood | volunteer charity donate | goal plan aim intend | dream aspiration ambition |
advice tip suggest recommend | idea suggestion | problem issue trouble difficulty challenge |
error bug fault failure exception | crash outage downtime | fix repair solve resolve | change alter modify update |
create build develop | delete remove erase drop | company firm startup business | store shop | customer client |
meeting appointment | birthday anniversary | religion church faith | clothes clothing outfit |
phone mobile cellphone | computer laptop | website site page | town city | country nation | weather forecast |
lawyer attorney | died death die | important significant | difficult hard challenging | beautiful gorgeous |
clever smart intelligent | funny humorous hilarious | strange weird odd | accident crash | old age |
inspire motivate inspiration motivation | promote advertise market | organize host arrange hold |
attend join participate | database db | repository repo | documentation docs | configuration config setting |
environment env | authentication auth login signin | password credential | permission access privilege |
deploy deployment release rollout ship | rollback revert | server host machine | request call | latency delay slow |
cache caching memoize | queue broker | schedule cron timetable | backup snapshot | employee staff worker |
salary wage pay | deadline due | doc document | email mail | address location | allergy allergic
"""
"""English groups, between bars; their words count as one another at a low weight. Source: ours."""

_KINDS = """
sport: football soccer basketball tennis baseball hockey golf volleyball swim run
sport: running ski surf skate box wrestle cycling badminton cricket rugby
exercise: yoga run jog gym swim stretch pilates boxing kickboxing cardio bike hike walk weight
activity: hike camp swim paint pottery run bike ski dance cook garden fish climb yoga read museum beach picnic kayak
hobby: paint draw read write cook bake garden photography knit
hobby: pottery dance music guitar piano chess gaming fish hike collect
instrument: piano guitar violin drum flute clarinet saxophone cello ukulele trumpet harp bass
pet: dog cat puppy kitten hamster rabbit turtle fish bird parrot snake lizard
animal: dog cat horse bird fish rabbit turtle lion tiger bear elephant cow sheep deer
food: pizza pasta soup salad sushi burger steak chicken rice
food: bread cake cookie fruit vegetable cheese noodle sandwich taco curry
dessert: cake cookie pie brownie chocolate cupcake pudding tart cream muffin
recipe: cake cookie soup salad bread pie pasta sauce bake cook muffin curry
drink beverage: coffee tea beer wine juice water milk cocktail smoothie soda
fruit: apple banana orange berry strawberry mango grape lemon peach pear
vegetable: tomato potato carrot onion cabbage lettuce spinach broccoli pepper
family relative: mom dad mother father son daughter brother sister wife
family relative: husband kid child parent grandma grandpa aunt uncle cousin
child: son daughter boy girl kid
relationship: single married dating divorce boyfriend girlfriend husband wife partner breakup
vehicle: car truck motorcycle bike bus van boat train
job career profession: teacher doctor nurse engineer lawyer designer developer manager
job career profession: writer artist chef counselor accountant driver intern actor
emotion feel: happy sad proud excited nervous anxious angry grateful scared thrilled upset awe calm peaceful overwhelmed
color colour: red blue green yellow purple pink orange black white brown
season: spring summer autumn fall winter
clothes clothing: shirt dress shoe jacket coat hat sweater jeans sock scarf
furniture: table chair sofa couch bed desk shelf lamp
country: england france spain italy germany japan china canada
country: mexico brazil india australia sweden ireland greece thailand
city: london paris tokyo york chicago boston seattle miami berlin rome barcelona toronto beijing shanghai
book: novel series author read fantasy mystery fiction
movie film: drama comedy thriller cinema watch
game: chess video console puzzle card board
music: song band jazz rock pop classical concert album piano guitar
art: paint draw sculpture pottery sketch gallery museum
craft: pottery knit sew woodwork
subject: math physics history biology chemistry english
language: english french spanish german italian japanese chinese python java javascript rust
health: doctor hospital sick pain diet sleep weight checkup diagnosis
injury: ankle knee leg arm wrist shoulder sprain break bandage
disease illness: cancer diabetes flu asthma allergy
allergy: peanut nut shellfish gluten dairy pollen
charity: shelter donate volunteer fundraiser homeless
event: party concert festival wedding conference parade fundraiser workshop show
place: park beach mountain lake museum city cafe restaurant forest
religion: church god pray faith bible
jewelry: necklace ring bracelet earring
device gadget: phone computer laptop tablet watch camera
database: postgres postgresql mysql sqlite mongodb redis oracle
cloud: aws azure gcp
framework: django flask fastapi react vue spring rails
browser: chrome firefox safari edge
payment: card paypal cash invoice transfer
plant: flower rose tree vegetable herb cactus
"""
"""English kinds with common members. Source: ours."""

_CHINESE_SYNONYMS = """
酒店 宾馆 旅馆 饭店 | 餐馆 餐厅 饭店 饭馆 | 电影 影片 片子 | 演员 主演 明星 | 歌手 演唱 | 歌曲 音乐 曲子 |
价格 价钱 费用 票价 | 便宜 实惠 优惠 | 贵的 昂贵 | 打折 折扣 优惠 | 退款 退钱 退费 | 退货 退换 | 订单 下单 |
发货 寄出 物流 快递 | 地址 住址 位置 | 电话 手机 号码 | 工作 上班 职业 | 公司 单位 企业 | 老板 领导 经理 上司 |
同事 同伴 搭档 | 老师 教师 导师 | 学生 同学 | 考试 测验 考卷 | 学习 复习 功课 | 学校 校园 大学 | 孩子 小孩 儿子 女儿 |
爸爸 父亲 老爸 | 妈妈 母亲 老妈 | 父母 爸妈 家长 | 爷爷 祖父 | 奶奶 祖母 | 妻子 老婆 太太 | 丈夫 老公 先生 |
男友 女友 对象 | 朋友 好友 伙伴 | 结婚 婚礼 婚姻 | 生日 寿辰 | 礼物 礼品 | 旅行 旅游 出游 度假 | 景点 景区 名胜 |
地铁 公交 交通 | 飞机 航班 机票 | 火车 高铁 列车 | 汽车 车子 轿车 | 医院 诊所 医生 大夫 | 生病 患病 疾病 | 过敏 敏感 |
疼痛 疼的 受伤 | 吃药 药物 服药 | 锻炼 健身 运动 | 跑步 慢跑 | 减肥 瘦身 | 开心 高兴 快乐 愉快 兴奋 |
难过 伤心 悲伤 沮丧 | 生气 愤怒 恼火 | 害怕 恐惧 担心 | 紧张 焦虑 压力 | 放松 休息 减压 | 孤独 寂寞 |
喜欢 喜爱 爱好 最爱 | 讨厌 不喜 | 帮助 帮忙 协助 | 问题 故障 毛病 | 错误 报错 异常 出错 | 修复 修好 解决 |
修改 更改 变更 调整 | 删除 移除 去掉 | 创建 新建 建立 | 部署 上线 发布 | 回滚 撤回 | 配置 设置 参数 | 密码 口令 |
账号 帐号 账户 | 登录 登陆 | 权限 授权 | 缓存 高速 | 数据 资料 | 文档 说明 手册 | 服务 服务器 | 内存 存储 |
延迟 卡顿 缓慢 | 比赛 竞赛 赛事 | 冠军 第一 夺冠 | 奖品 奖励 获奖 | 表演 演出 晚会 | 动画 动漫 卡通 | 宠物 小狗 小猫 |
小狗 狗狗 | 小猫 猫咪 | 家里 家中 房子 | 搬家 搬到 | 钱包 现金 | 会议 开会 | 计划 打算 安排 | 时间 日期 | 截止 期限 |
推荐 建议
"""
"""Chinese groups of words of two characters, between bars. Source: ours."""

_CHINESE_KINDS = """
水果: 苹果 香蕉 橙子 芒果 葡萄 西瓜 草莓 桃子 梨子 菠萝
蔬菜: 白菜 土豆 番茄 黄瓜 萝卜 茄子 菠菜
运动 体育: 足球 篮球 网球 排球 游泳 跑步 羽毛 乒乓 滑雪 滑冰 瑜伽 健身 登山
乐器: 钢琴 吉他 小提 提琴 古筝 笛子 二胡 架子
宠物: 小狗 小猫 猫咪 狗狗 兔子 仓鼠 乌龟 金鱼
动物: 狮子 老虎 大象 熊猫 猴子 兔子 小狗 小猫
饮料: 咖啡 奶茶 果汁 可乐 啤酒 牛奶 绿茶
甜点 甜品: 蛋糕 饼干 冰淇 布丁 巧克
家人 亲戚: 爸爸 妈妈 父亲 母亲 哥哥 姐姐 弟弟 妹妹 爷爷 奶奶 妻子 丈夫 表哥 表姐
孩子: 儿子 女儿
颜色: 红色 蓝色 绿色 黄色 紫色 粉色 黑色 白色 橙色
季节: 春天 夏天 秋天 冬天
城市: 北京 上海 广州 深圳 杭州 成都 南京 武汉 西安 重庆
国家: 中国 美国 日本 英国 法国 德国 韩国 泰国
职业: 老师 医生 护士 律师 工程 司机 厨师 设计
爱好 兴趣: 画画 唱歌 跳舞 阅读 摄影 钓鱼 下棋 爬山 游泳 跑步
心情 情绪 感受: 开心 高兴 难过 伤心 生气 紧张 兴奋 害怕 焦虑 孤独 沮丧
节日: 春节 中秋 端午 圣诞 元旦 国庆
科目 学科: 数学 语文 英语 物理 化学 历史 地理 生物
症状: 头疼 头痛 发烧 咳嗽 失眠 恶心
过敏: 花生 海鲜 牛奶 花粉 青霉
"""
"""Chinese kinds with common members, by words (or the first pair of a longer word). Source: ours."""

TIME_ANSWER = (
    r"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|last|next|week(?:end)?s?|months?|years?|morning|evening"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|spring|summer|autumn|winter|[0-9]{1,4}(?:st|nd|rd|th|am|pm|:[0-9]{2})?)\b"
    r"|[0-9零一二两三四五六七八九十]+(?:年|月|日|号|点|周|天|小时|分钟)|昨天|今天|明天|后天|前天|昨晚|今晚|上周|下周|上个|下个|去年|今年|明年"
    r"|星期|周[一二三四五六末日]|早上|上午|中午|下午|晚上"
)
"""What the answer to a question for a time looks like, in a folded text. Source: ours."""

MANY_ANSWER = (
    r"[0-9]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|dozens?|couple|several|once|twice|half|hundred|thousand)\b"
    r"|[零一二两三四五六七八九十百千万半][个次位名只本张元块年岁天斤公米分种遍]"
)
"""What the answer to a question for a number looks like, in a folded text. Source: ours."""

_VARIANTS = """
們们來来個个這这說说時时會会過过還还沒没對对開开關关問问題题學学習习點点樣样現现實实發发動动電电話话機机腦脑網网體体書书車车長长見见觀观覺觉聽听讀读寫写畫画買买賣卖錢钱貴贵價价費费館馆飯饭麵面雞鸡魚鱼鳥鸟馬马龍龙貓猫門门間间國国圖图園园場场
鄉乡縣县區区號号碼码線线紅红綠绿藍蓝黃黄顏颜氣气溫温熱热風风雲云陽阳陰阴東东邊边裡里裏里後后從从為为與与於于無无當当應应該该讓让給给請请謝谢認认識识記记憶忆憲宪愛爱歡欢樂乐慶庆節节誕诞聖圣禮礼親亲媽妈爺爷孫孙師师醫医藥药療疗護护傷伤業业務务
員员職职專专項项領领導导經经濟济貿贸貨货訂订單单據据數数庫库檔档條条傳传輸输環环設设備备計计劃划測测試试驗验證证簽签約约協协議议討讨論论評评審审運运飛飞鐵铁軌轨橋桥樓楼層层廳厅廚厨廁厕燈灯簾帘衛卫視视頻频攝摄錄录劇剧團团歲岁歷历曆历紀纪輕轻
練练績绩級级組组織织語语詞词譯译課课變变換换選选擇择擔担準准確确標标簡简復复雜杂難难軟软盤盘儲储緩缓衝冲載载鏈链連连斷断絡络絕绝續续結结構构產产質质銷销營营廣广賬账帳账戶户幣币財财稅税貸贷資资華华灣湾蘇苏滬沪臺台兒儿齡龄齒齿髮发鬚须臉脸頭头
腳脚膚肤腫肿癒愈雙双幾几兩两萬万億亿歸归屬属屆届際际隊队陣阵隨随險险陸陆階阶隱隐養养飲饮飽饱餅饼餓饿駕驾駛驶騎骑騙骗驚惊麗丽麼么麥麦齊齐齋斋龐庞鬥斗鬧闹鬱郁決决沖冲況况涼凉淚泪淨净減减溝沟滅灭滿满漢汉潔洁濃浓濕湿獎奖獨独獲获貝贝負负責责貢贡
貧贫購购賓宾賞赏賠赔賽赛贈赠贊赞贏赢軍军輛辆輪轮轉转較较辦办辭辞農农遠远違违適适遲迟遷迁遺遗邏逻釋释鋼钢錯错鍋锅鍵键鎖锁鏡镜鐘钟鑰钥閉闭閒闲閱阅闆板頁页順顺須须預预頓顿頗颇額额願愿類类顧顾顯显飄飘創创劉刘剛刚則则別别刪删勞劳勝胜勢势勵励匯汇
卻却壓压廠厂參参吳吴啟启嘗尝嚴严圍围執执報报塊块壞坏壯壮壽寿夠够夢梦奪夺奮奋婦妇嬰婴寢寝寧宁寬宽寶宝將将尋寻島岛峽峡嶺岭帶带幫帮幹干廢废彈弹強强彎弯徑径徵征態态慣惯慮虑憂忧懷怀懶懒戀恋戰战戲戏掃扫掛挂採采揮挥損损搶抢撐撑擁拥擊击擴扩擾扰攜携
敗败敵敌曉晓暫暂極极榮荣樹树橫横檢检櫃柜權权欄栏歐欧殺杀殼壳毀毁爐炉煙烟煩烦燒烧爭争爾尔牆墙狀状猶犹瑪玛異异癢痒皺皱監监盡尽眾众睏困矚瞩礙碍禍祸種种稱称積积穩稳窮穷競竞筆笔築筑篩筛籃篮糧粮紙纸紛纷細细終终統统絲丝維维綜综緊紧編编緣缘縮缩總总
繞绕繪绘繼继罰罚罵骂羅罗義义聯联聰聪聲声肅肃脫脱腸肠臨临舉举舊旧艙舱艱艰藝艺蘋苹處处虛虚蝦虾螞蚂蟲虫術术補补裝装製制複复襯衬規规觸触訓训訪访許许訴诉診诊註注詢询詳详誇夸誤误調调談谈諾诺謊谎講讲謹谨譜谱譽誉讚赞豐丰豬猪賴赖趕赶跡迹踐践躍跃輯辑
辯辩進进郵邮醬酱鄰邻釘钉針针鈴铃銀银銅铜鋪铺錶表闊阔陳陈雖虽離离靈灵靜静響响頂顶飾饰駐驻鮮鲜鹽盐黨党
"""
"""Pairs of a traditional character and its simplified form. Source: ours, the commonest of the Unicode Han variants."""
