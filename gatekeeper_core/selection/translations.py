"""English and Chinese words of everyday talk that translate each other, as data.

Source: ours, written for this library; drawn from no dictionary and no data set. The table is parsed when it is first
used.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["translations"]


@cache
def translations() -> Mapping[str, tuple[str, ...]]:
    """Return, by English word, its Chinese translations, the commonest first; neither stemmed nor cut.

    The parts of a term of two English words are joined by ``_``.

    >>> translations()["fridge"], translations()["washing_machine"]
    (('冰箱',), ('洗衣机',))
    """
    found: dict[str, tuple[str, ...]] = {}
    for entry in _TABLE.split("|"):
        words, _, translated = entry.partition(":")
        found.update(dict.fromkeys(words.split(), tuple(translated.split())))
    return MappingProxyType(found)


_TABLE = """
ability: 能力 本领 | abortion: 流产 堕胎 人流 | abroad overseas: 国外 海外 | abs six_pack: 腹肌 |
absence absent: 缺席 缺勤 旷课 | abstract: 摘要 抽象 | absurd ridiculous: 荒唐 可笑 离谱 |
abuse domestic_violence: 家暴 虐待 | accelerate acceleration: 加速度 加速 | accelerator gas_pedal: 油门 | accent: 口音 |
accept: 接受 答应 | acceptance: 验收 接受 | accident: 事故 意外 车祸 | accommodation: 住宿 住处 | accordion: 手风琴 |
account: 账户 账号 账目 帐号 | accountant: 会计 会计师 | accounting: 会计 财会 | accuracy: 准确率 准确性 精度 |
accurate precise: 准确 精确 | acetaminophen paracetamol: 扑热息痛 退烧药 | ache: 酸痛 疼 痛 | achieve: 实现 取得 达到 |
achievement: 成绩 | acid: 酸 | acid_reflux heartburn: 胃酸 反酸 烧心 | acidic: 酸性 酸 |
acne pimple zit: 痘痘 青春痘 痤疮 痘 | acquaintance: 熟人 认识 | acquire acquisition: 收购 | act: 行动 表演 |
action: 行动 动作 | action_figure figurine: 手办 | action_film: 动作片 | activate activation: 激活 | active: 积极 活跃 |
activity: 活动 | actor: 演员 男演员 | actress: 女演员 演员 | acupuncture: 针灸 扎针 | acute: 急性 |
ad advert advertisement: 广告 | adapt: 适应 改编 | adapter adaptor: 转换插头 转换器 适配器 |
addicted addiction: 上瘾 成瘾 瘾 | addition: 加法 | address: 地址 住址 | adhd: 多动症 注意力 | adhesive: 胶水 胶 |
adjective: 形容词 | adjust: 调整 调节 | adjustment: 调整 | admin administrator: 管理员 | admission: 录取 入学 招生 |
admission_letter: 录取通知 录取信 | admit: 承认 | adolescence puberty: 青春期 | adolescent teen teenager: 青少年 |
adopt adoption: 领养 收养 | adorable cute: 可爱 萌 | adult: 成年人 成人 大人 | advantage: 优点 优势 好处 |
adventure: 冒险 探险 | adverb: 副词 | advertising: 广告 宣传 | advice: 建议 意见 忠告 | advise: 建议 劝告 |
aerobic: 有氧 有氧运动 有氧操 健美操 | aerobics: 有氧操 健美操 有氧 | aeroplane airplane plane: 飞机 |
aerospace aviation: 航空 航天 航空航天 | affair cheating: 出轨 劈腿 外遇 欺骗 | affect: 影响 | afford: 买得起 负担得起 |
affordable: 实惠 买得起 负担得起 便宜 | afraid frightened scared: 害怕 怕 吓 | africa: 非洲 | african: 非洲人 非洲 |
aftershock: 余震 | age: 年龄 年纪 | agency: 中介 代理机构 机构 | agenda: 议程 日程 | agent: 代理 中介 经纪人 |
agile: 敏捷 | agree: 同意 赞成 | agreement: 协议 协定 同意 约定 | ai artificial_intelligence: 人工智能 智能 |
aids hiv: 艾滋病 艾滋 | aim target: 目标 | air: 空气 | air_conditioner air_conditioning aircon: 空调 |
air_freight: 空运 | air_fryer: 空气炸锅 | air_pollution: 空气污染 大气污染 | air_purifier: 净化器 |
air_quality: 空气质量 | airbag: 安全气囊 | airfare plane_ticket: 机票 | airline: 航空公司 航司 | airport: 机场 |
aisle: 过道 走道 | alarm: 闹钟 警报 报警器 闹铃 | alarm_clock: 闹钟 警报 | alaska: 阿拉斯加 | album: 专辑 相册 |
alcohol: 酒 酒精 | alcohol_wipe: 酒精棉 酒精湿巾 | alert: 警报 告警 提醒 警告 | algebra: 代数 | algorithm: 算法 |
alien extraterrestrial: 外星人 | align alignment: 对齐 | alimony child_support: 抚养费 赡养费 | alive: 活着 活 |
alkali alkaline: 碱性 碱 | allergic: 过敏 过敏症 | allergy: 过敏 食物过敏 过敏症 | alley: 小巷 胡同 弄堂 |
alligator crocodile: 鳄鱼 | allow: 允许 准许 许可 | allowance: 津贴 补贴 零花钱 | alloy: 合金 | almond: 杏仁 巴旦木 |
aloe: 芦荟 | alone: 独自 单独 一个人 | alphabet: 字母表 字母 | alternative: 替代 其他选择 备选 |
altitude elevation: 海拔 | altitude_sickness: 高原反应 高反 | aluminium aluminum: 铝 |
aluminium_foil foil tin_foil: 锡纸 铝箔 | alumni alumnus: 校友 | alzheimers dementia: 痴呆 老年痴呆 失智 |
amateur: 业余 | amazing wonderful: 精彩 奇妙 | ambition: 野心 抱负 雄心 | ambitious: 野心 雄心 |
ambulance: 救护车 急救车 | america united_states usa: 美国 | american: 美国人 美国 美式 | amino_acid: 氨基酸 |
amusement_park theme_park: 游乐园 主题公园 | anaemia anemia: 贫血 |
anaesthesia anaesthetic anesthesia anesthetic: 麻醉 麻药 | analyse analysis analyze: 分析 | ancestor: 祖先 祖宗 |
ancient: 古代 古老 | angel: 天使 | anger: 愤怒 怒气 | angle: 角度 角 | angry mad: 生气 愤怒 | animal: 动物 |
animation cartoon: 动画片 动画 卡通 | anime: 动漫 动画 | ankle: 脚踝 脚腕 踝关节 | anniversary: 纪念日 周年 |
annotate annotation: 标注 注释 注解 | announce: 宣布 公布 | announcement: 公告 通知 宣布 |
annoy: 惹恼 打扰 烦人 讨厌 烦 | annoyed annoying: 烦 烦人 讨厌 | annual: 年度 | annual_leave: 年假 休假 |
anorexia: 厌食症 厌食 | ant: 蚂蚁 | antarctic south_pole: 南极 | antarctica: 南极 南极洲 | antibiotic: 抗生素 消炎药 |
antibody: 抗体 | antihistamine: 抗过敏药 抗组胺 | antique: 古董 | antivirus: 杀毒软件 杀毒 | antler: 鹿角 |
antonym: 反义词 | anxiety: 焦虑 焦虑症 | anxious: 焦虑 着急 不安 | apartment: 公寓 房子 套房 | ape: 猿 猩猩 |
aphid: 蚜虫 | api endpoint: 接口 端点 | apologise apologize: 道歉 赔礼 对不起 | apology: 道歉 歉意 对不起 |
app: 软件 程序 应用 | appeal: 上诉 申诉 | appear: 出现 | appearance: 外表 外观 长相 | appendicitis: 阑尾炎 |
appetite: 胃口 食欲 | appetizer starter: 前菜 开胃菜 | apple: 苹果 | appliance household_appliance: 家电 电器 |
applicant interviewee: 申请人 应聘者 面试者 | application: 申请 申请表 程序 应用 | application_form: 申请表 报名表 |
apply: 申请 应聘 应用 涂 | appointment: 预约 挂号 约会 任命 约 | appraisal performance_review: 考核 绩效评估 |
apprentice: 学徒 徒弟 | appropriate suitable: 合适 适合 | approval: 批准 审批 同意 认可 | approve: 批准 审批 同意 通过 |
approximate: 大约 大概 | approximately roughly: 大约 大概 左右 | apricot: 杏子 杏 | april: 四月 | apron: 围裙 |
aquarium: 鱼缸 水族馆 海洋馆 | arabic: 阿拉伯语 | archery: 射箭 | architect: 建筑师 | architecture: 架构 建筑 |
arctic north_pole: 北极 | area: 面积 地区 区域 | argentina: 阿根廷 | argue: 吵架 争吵 争论 论点 |
argument: 吵架 争吵 争论 参数 论点 | arithmetic: 算术 | arm: 胳膊 手臂 | armchair: 扶手椅 单人沙发 | army: 军队 陆军 |
arrange: 安排 整理 布置 | arrangement: 安排 布置 | array: 数组 | arrest: 逮捕 抓 | arrival arrive reach: 到达 抵达 |
arrogant: 傲慢 自大 | arrow: 箭头 箭 | art: 艺术 美术 文科 人文 | art_gallery gallery: 美术馆 画廊 | artery: 动脉 血管 |
arthritis: 关节炎 | article: 文章 冠词 | artificial: 人工 人造 | artist: 艺术家 画家 | arts humanities: 文科 人文 |
ash: 灰烬 骨灰 灰 | ashamed: 羞耻 羞愧 惭愧 | ashes: 骨灰 | asia: 亚洲 | asian: 亚洲人 亚裔 亚洲 |
asleep fall_asleep: 睡着 入睡 | asparagus: 芦笋 | aspirin: 阿司匹林 | assemble: 组装 安装 装配 拼装 |
assembly: 组装 装配 | assembly_line production_line: 流水线 生产线 | assess evaluate: 评估 评价 |
assessment evaluation: 评估 评价 考核 | asset: 资产 | assignment: 作业 任务 | assistant: 助理 助手 | asteroid: 小行星 |
asthma: 哮喘 | astronaut: 宇航员 航天员 | astronomer: 天文学家 | astronomy: 天文 天文学 | async asynchronous: 异步 |
atheist: 无神论 | athens: 雅典 | athlete: 运动员 | athletes_foot: 脚气 | athletics: 田径 |
atm cash_machine: 取款机 提款机 | atmosphere: 大气 气氛 大气层 氛围 | atom: 原子 | attach: 附上 附加 固定 |
attachment: 附件 | attack: 攻击 袭击 | attempt: 尝试 企图 | attend: 参加 出席 | attendance: 出勤 考勤 出席 |
attention: 注意 注意力 关注 | attic loft: 阁楼 | attitude: 态度 | attorney lawyer solicitor: 律师 |
attraction: 景点 景区 | attractive: 有魅力 有吸引力 吸引人 迷人 好看 | aubergine eggplant: 茄子 | auckland: 奥克兰 |
audience: 观众 听众 | audiobook: 有声书 听书 | august: 八月 | aunt auntie: 阿姨 姑姑 姨妈 舅妈 婶婶 |
aurora northern_lights: 极光 | australia: 澳大利亚 澳洲 | australian: 澳洲人 | austria: 奥地利 |
authentic genuine: 正品 正宗 地道 真品 | authenticate authentication: 认证 验证 身份验证 | author writer: 作家 作者 |
authorisation authorise authorization authorize: 授权 | authorities authority: 当局 权威 部门 |
autism autistic: 自闭症 孤独症 | automate automatic automation: 自动化 自动 | autumn: 秋天 秋季 | available: 有空 有货 |
avalanche: 雪崩 | avatar profile_picture: 头像 | avenue: 大道 | average: 平均 平均值 均值 一般 | avocado: 牛油果 鳄梨 |
avoid: 避免 避开 躲开 | awake: 醒着 清醒 | award prize: 奖品 奖项 奖 | awareness: 意识 |
awful terrible: 糟糕 可怕 差劲 | awkward: 尴尬 | axe: 斧头 斧子 | axiom: 公理 | axis: 坐标轴 |
baby infant: 宝宝 婴儿 孩子 | baby_bottle feeding_bottle: 奶瓶 | baby_carrier: 背带 婴儿背带 | baby_food solids: 辅食 |
baby_wipes wet_wipes: 湿巾 | babysitter: 保姆 临时保姆 看孩子 | bachelor: 学士 本科 | back: 背 后背 背部 腰 后面 背面 |
back_end backend: 后端 后台 | back_pain backache: 腰疼 背痛 腰痛 腰酸背痛 | background: 背景 | backlog: 待办 积压 |
backpack: 背包 书包 双肩包 | backpacker: 背包客 | backup: 备份 后备 | backwards: 倒着 | backyard yard: 院子 后院 |
bacon: 培根 | bacteria germ: 细菌 | bad_breath: 口臭 | badger: 獾 | badminton: 羽毛球 | bag: 袋子 书包 包 |
baggage: 行李 | baggy: 宽松 | baguette: 法棍 法式长棍 | bake: 烤 烘焙 烘烤 | bakery: 面包店 烘焙店 | baking: 烘焙 |
baking_paper parchment: 烘焙纸 油纸 羊皮纸 | baking_powder: 泡打粉 | baking_soda: 小苏打 苏打粉 | baking_tray: 烤盘 |
balance: 余额 平衡 天平 | balcony: 阳台 露台 | bald baldness: 秃头 光头 秃顶 | bali: 巴厘岛 | ball sphere: 球体 球 |
ballet: 芭蕾 芭蕾舞 | balloon: 气球 | bamboo: 竹子 竹 | bamboo_shoot: 竹笋 笋 | ban forbid prohibit: 禁止 不许 不准 |
banana: 香蕉 | band: 乐队 | band_aid: 创可贴 | bandage: 绷带 纱布 包扎 | bandwidth: 带宽 | bangkok: 曼谷 |
bangladesh: 孟加拉国 孟加拉 | bank: 银行 | bank_account: 银行账户 银行账号 | bank_card: 银行卡 |
bank_holiday public_holiday: 法定假日 公共假期 节假日 | banknote: 纸币 钞票 | bankrupt bankruptcy: 破产 倒闭 |
banner: 横幅 广告条 | banquet: 宴席 酒席 宴会 | baptism christening: 洗礼 受洗 | bar_chart: 柱状图 条形图 |
barbecue bbq: 烧烤 烤肉 | barbell: 杠铃 | barber: 理发师 理发店 发型师 | barcelona: 巴塞罗那 | barcode: 条形码 条码 |
bargain haggle: 讲价 砍价 划算 还价 | bark: 狗叫 树皮 | barrel: 桶 | barrier obstacle: 障碍 阻碍 | baseball: 棒球 |
basement cellar: 地下室 地窖 | basic: 基本 基础 | basil: 罗勒 九层塔 | basin: 洗手盆 盆地 脸盆 洗脸池 |
basket: 篮子 购物篮 | basketball: 篮球 打球 | bass: 贝斯 低音 | bat: 蝙蝠 球棒 | batch: 批次 批量 | batch_number: 批号 |
bath bathtub: 浴缸 洗澡 泡澡 | bathroom: 浴室 卫生间 洗手间 | batter: 面糊 | battery: 电池 电量 | bay gulf: 海湾 湾 |
beach: 海滩 沙滩 海边 | bead: 珠子 | bean: 豆子 豆 豆类 | bean_paste: 豆瓣酱 豆沙 | bean_sprout: 豆芽 |
bear: 熊 忍受 承受 轴承 忍 | beard: 胡子 胡须 | bearing: 轴承 | beat: 节奏 打败 节拍 击败 |
beautiful: 漂亮 美丽 美 好看 | beauty: 美容 美丽 美 | beaver: 河狸 | bed: 床 床铺 | bed_sheet: 床单 |
bedbug: 臭虫 床虱 | bedding: 床品 床上用品 被褥 | bedroom: 卧室 睡房 | bedside_lamp: 床头灯 |
bedside_table nightstand: 床头柜 | bedtime: 睡觉时间 睡前 就寝 | bedtime_story: 睡前故事 | bee: 蜜蜂 | beef: 牛肉 |
beef_brisket brisket: 牛腩 | beer: 啤酒 | beet beetroot: 甜菜 甜菜根 | beetle: 甲虫 | beginner: 初学者 新手 |
behavior behaviour: 表现 | behind: 后面 背后 | beige: 米色 米白 | beijing: 北京 | belgium: 比利时 |
belief faith: 信仰 信念 | believe: 相信 信 | bell: 铃 铃铛 | bell_pepper: 彩椒 甜椒 青椒 |
belly tummy: 肚子 肚皮 小肚子 | belong: 属于 | belongings: 东西 物品 随身物品 | belt: 皮带 腰带 | bench: 长椅 长凳 |
bench_press: 卧推 | bend: 弯曲 弯腰 弯 | benefit: 福利 好处 利益 益处 | bento lunchbox: 饭盒 便当 便当盒 |
berlin: 柏林 | beside: 旁边 隔壁 | best_friend: 闺蜜 最好朋友 好友 死党 | best_man: 伴郎 | betray betrayal: 背叛 |
betrothal_gift bride_price: 彩礼 | bible: 圣经 | biceps: 二头肌 | bicycle bike: 自行车 单车 | big_bang: 大爆炸 |
big_brother elder_brother older_brother: 哥哥 大哥 | big_data: 大数据 |
big_sister elder_sister older_sister: 姐姐 大姐 | bikini swimsuit: 泳衣 比基尼 | bilingual: 双语 |
bill: 账单 账 钞票 买单 法案 | billiards snooker: 台球 斯诺克 桌球 | billion: 十亿 亿 |
bin dustbin rubbish_bin: 垃圾桶 | binge overeat: 暴饮暴食 暴食 | binoculars telescope: 望远镜 |
biodiversity: 生物多样 多样性 | biography: 传记 | biologist: 生物学家 | biology: 生物 生物学 | biopsy: 活检 |
bipolar: 双相 躁郁症 | bird: 鸟 小鸟 | birdwatching: 观鸟 | birth: 出生 分娩 诞生 生孩子 |
birth_certificate: 出生证明 出生证 | birth_control contraception: 避孕 避孕药 | birthday: 生日 |
birthday_cake: 生日蛋糕 | birthday_party: 生日聚会 生日派对 生日会 | birthplace: 出生地 | biscuit cookie: 饼干 曲奇 |
bitcoin: 比特币 | bitter: 苦 苦味 | bitter_melon: 苦瓜 | black: 黑色 黑 | black_bean: 黑豆 | black_hole: 黑洞 |
blackboard whiteboard: 黑板 白板 | blackhead: 黑头 | blackout power_cut power_outage: 停电 断电 | bladder: 膀胱 |
blade: 刀片 | blame: 责怪 指责 怪 | blanch: 焯水 焯 | bland: 清淡 没味道 平淡 淡 | blanket: 毯子 毛毯 被子 |
bleach: 漂白剂 漂白 | bleed bleeding: 流血 出血 | blend: 混合 搅拌 拌匀 | blender: 搅拌机 料理机 破壁机 |
bless blessing: 祝福 保佑 祝愿 | blind: 失明 盲人 百叶窗 卷帘 遮光帘 瞎 | blind_box: 盲盒 | blind_date: 相亲 |
blinds: 百叶窗 卷帘 遮光帘 | blister: 水泡 起泡 | blizzard: 暴风雪 暴雪 | bloated bloating: 胀气 腹胀 肚子胀 |
block: 屏蔽 拉黑 阻止 堵塞 积木 | blockchain: 区块链 | blocked: 堵 堵塞 | blocked_drain: 堵塞 |
blocked_nose stuffy_nose: 鼻塞 鼻子堵 | blocks building_blocks: 积木 | blog: 博客 | blogger: 博主 |
bloke: 男生 家伙 哥们 | blood: 血 血液 | blood_donation donate_blood: 献血 | blood_pressure: 血压 |
blood_sugar glucose: 血糖 | blood_test: 验血 抽血 血检 化验 | blood_type: 血型 | bloom blossom: 开花 盛开 |
blouse: 女式衬衫 上衣 | blow: 吹 | blue: 蓝色 蓝 | blueberry: 蓝莓 | blueprint: 图纸 蓝图 | bluetooth: 蓝牙 |
blunt: 直率 钝 | blurry: 模糊 不清晰 | bmi: 体重指数 | boar wild_boar: 野猪 | board: 董事会 木板 看板 板子 登机 板 |
board_game: 桌游 | boarding: 登机 | boarding_gate: 登机口 | boarding_pass: 登机牌 | boat: 船 小船 |
body: 身体 身子 全身 | body_fat: 体脂 体脂率 | body_wash shower_gel: 沐浴露 | boil: 煮 沸腾 煮沸 烧开 |
boiled_egg: 水煮蛋 白煮蛋 | boiler: 热水器 锅炉 壁挂炉 | boiling: 沸腾 煮沸 | boiling_point: 沸点 |
bok_choy pak_choi: 小白菜 青菜 | bold: 加粗 粗体 | bolt: 螺栓 | bond: 债券 | bone: 骨头 骨 骨骼 |
bonfire campfire: 篝火 | bonnet: 引擎盖 | bonus: 奖金 年终奖 红包 | book: 书 书籍 预订 预约 订单 预定 |
book_club: 读书会 | bookcase bookshelf: 书架 书柜 | booking reservation: 预订 预约 订单 预定 | bookmark: 书签 收藏 |
bookshop bookstore: 书店 | boolean: 布尔 布尔值 | boot: 靴子 启动 开机 | boots: 靴子 | border: 边境 边界 国境 边框 |
bored: 无聊 没意思 | boring: 无聊 没意思 枯燥 | born: 出生 | borrow: 借入 借用 借 | boss: 老板 上司 领导 |
boston: 波士顿 | bot robot: 机器人 | botanical_garden: 植物园 | bother disturb: 打扰 麻烦 干扰 | bottle: 瓶子 瓶 |
bottle_opener corkscrew: 开瓶器 开罐器 | bottleneck: 瓶颈 | bottom: 屁股 臀部 底部 下面 底 |
boundary: 边界 界限 边界感 | bouquet: 花束 鲜花 | bowel gut intestine: 肠 肠道 肠子 肠胃 | bowl: 碗 | bowling: 保龄球 |
box: 盒子 箱子 拳击 打拳 | boxing: 拳击 打拳 | boy: 男孩 男生 | boyfriend: 男朋友 男友 | bra: 文胸 胸罩 内衣 |
bracelet: 手链 手镯 | braces: 牙套 矫正 牙齿矫正 | bracket parenthesis: 括号 | brain: 大脑 脑子 脑 |
brainstorm brainstorming: 头脑风暴 | braise: 红烧 炖 焖 | brake: 刹车 | branch: 树枝 分支 分公司 枝条 分店 分行 |
brand: 品牌 牌子 | brave: 勇敢 | brazil: 巴西 | breach: 违约 违反 | bread: 面包 | break: 弄坏 打破 休息 坏 断 |
breakdown: 抛锚 故障 | breakfast: 早餐 早饭 | breaking_news: 突发新闻 | breakpoint: 断点 | breakup: 分手 |
breast: 胸 乳房 胸部 | breast_milk: 母乳 | breastfeed breastfeeding: 母乳喂养 母乳 哺乳 喂奶 | breaststroke: 蛙泳 |
breath: 呼吸 气息 | breathable: 透气 | breathe: 呼吸 喘气 | breed: 品种 繁殖 养殖 | breeze: 微风 | brew: 泡茶 冲泡 酿 |
bribe: 贿赂 受贿 | brick: 砖头 砖 | bride: 新娘 | bridegroom: 新郎 | bridesmaid: 伴娘 | bridge: 桥 大桥 |
bright: 明亮 鲜艳 亮 | brightness: 亮度 | brisbane: 布里斯班 | britain uk united_kingdom: 英国 |
british: 英国人 英国 英式 | broad wide: 宽 广泛 | broadband: 宽带 网络 | broadcast: 广播 播出 | broccoli: 西兰花 |
broke: 破产 | broken: 损坏 坏 | broken_bone fracture: 骨折 | bronchitis: 支气管炎 | broom: 扫帚 扫把 |
broth: 高汤 清汤 库存 | brother: 哥哥 弟弟 兄弟 | brown: 棕色 褐色 咖啡色 | brown_sugar: 红糖 黑糖 | browser: 浏览器 |
bruise: 淤青 瘀伤 | brunch: 早午餐 | brush: 刷子 画笔 毛笔 刷 | brussels: 布鲁塞尔 | bubble: 泡泡 气泡 泡沫 |
bubble_tea milk_tea: 奶茶 珍珠奶茶 | bucket pail: 桶 水桶 | bud: 花蕾 芽 花苞 | budapest: 布达佩斯 |
buddha: 佛 佛祖 菩萨 | buddhism buddhist: 佛教 佛教徒 学佛 | budget: 预算 | budgie: 虎皮鹦鹉 鹦鹉 |
buffet: 自助餐 自助 | bug: 虫子 漏洞 昆虫 缺陷 错误 | build: 构建 建造 搭建 编译 大楼 建筑 |
build_muscle gain_muscle: 增肌 练肌肉 | builder: 建筑工 施工队 | building: 大楼 楼 建筑 | bulb light_bulb: 灯泡 球茎 |
bulgaria: 保加利亚 | bull ox: 公牛 牛 | bullet_point: 列表 | bully bullying: 欺负 霸凌 | bump: 撞 肿块 碰 |
bumper: 保险杠 | bun steamed_bun: 包子 馒头 小面包 | bungee_jumping: 蹦极 | bunk_bed: 上下铺 双层床 |
bunny rabbit: 兔子 兔 | burden: 负担 | burger hamburger: 汉堡 汉堡包 | burgundy: 酒红色 | burial: 埋葬 下葬 安葬 |
burn: 烧焦 烧伤 燃烧 烫伤 烧 | burnout: 倦怠 耗尽 职业倦怠 精疲力尽 | burnt charred: 烧焦 焦 | burp: 拍嗝 打嗝 |
bury: 埋葬 下葬 安葬 埋 | bus: 公交 公交车 巴士 大巴 | bus_stop: 公交站 站牌 | busan: 釜山 | bush shrub: 灌木 灌木丛 |
business: 生意 商业 业务 企业 | business_class: 商务舱 | business_licence business_license: 营业执照 |
business_trip: 出差 公差 | businessman entrepreneur: 商人 企业家 创业者 | busy: 忙 忙碌 繁忙 | butcher: 肉店 肉铺 |
butt buttocks: 屁股 臀部 | butter: 黄油 牛油 | butterfly: 蝴蝶 | button: 纽扣 扣子 按钮 按键 | buyer: 买家 买方 |
cab taxi: 出租车 | cabbage: 卷心菜 白菜 包菜 | cabinet cupboard: 柜子 橱柜 壁柜 | cable: 电线 电缆 数据线 线缆 线 |
cable_car: 缆车 | cache: 缓存 | cactus: 仙人掌 | caesarean: 剖腹产 剖宫产 | cafe coffee_shop: 咖啡馆 咖啡店 咖啡厅 |
cafeteria canteen: 食堂 | cage: 笼子 | cairo: 开罗 | cake: 蛋糕 | calcium: 钙片 补钙 钙 | calculate: 计算 算 |
calculation compute: 计算 | calculator: 计算器 | calculus: 微积分 | calendar: 日历 日程 | calf: 小腿 小牛 |
calibrate calibration: 校准 标定 | california: 加州 | callback: 回调 | calligraphy: 书法 练字 | calm: 冷静 平静 镇定 |
calorie calories: 卡路里 热量 大卡 | cambodia: 柬埔寨 | cambridge: 剑桥 | camel: 骆驼 | camera: 相机 摄像头 照相机 |
camp camping: 露营 野营 营地 | campaign: 竞选 活动 | campervan motorhome: 房车 | campground campsite: 营地 露营地 |
campus: 校园 校区 | canada: 加拿大 | canadian: 加拿大人 | cancel: 取消 退订 | cancer: 癌症 癌 肿瘤 |
candidate: 候选人 应聘者 求职者 | candle: 蜡烛 香薰蜡烛 | candy lollipop: 糖果 棒棒糖 糖 |
cane walking_stick: 拐杖 手杖 | canned: 罐头 罐子 | canoe kayak: 皮划艇 独木舟 | cantonese: 粤语 广东话 |
canvas: 画布 帆布 | canyon gorge: 峡谷 | cap: 帽子 鸭舌帽 | capability: 能力 | capacitor: 电容 电容器 |
capacity: 容量 能力 产能 | capital: 首都 大写 资金 省会 资本 | capitalism: 资本主义 | capsule: 胶囊 |
captcha verification_code: 验证码 | car: 车 汽车 轿车 | car_accident car_crash: 车祸 交通事故 | car_insurance: 车险 |
car_key: 车钥匙 | car_maintenance: 保养 | car_park: 停车场 | car_rental: 租车 | car_seat child_seat: 安全座椅 儿童座椅 |
car_wash: 洗车 | carbohydrate carbs: 碳水 | carbon: 碳 | carbon_dioxide: 二氧化碳 | carbon_emissions: 碳排放 |
carbon_fiber carbon_fibre: 碳纤维 | carbon_footprint: 碳足迹 | carbon_monoxide: 一氧化碳 | carbon_neutral: 碳中和 |
card: 卡片 贺卡 牌 卡 | cardboard: 纸板 纸箱 硬纸板 | cardboard_box carton: 纸箱 纸盒 | cardigan: 开衫 针织衫 |
cardio: 有氧 有氧运动 | cardiologist cardiology: 心内科 心脏科 | care: 关心 照顾 在意 护理 |
care_home nursing_home: 养老院 敬老院 | career: 职业 事业 职业生涯 | careful: 小心 仔细 |
caregiver carer: 护工 看护 照顾 | careless: 粗心 马虎 | cargo: 货物 货运 | carnation: 康乃馨 | carpenter: 木匠 木工 |
carpentry woodworking: 木工 | carpet rug: 地毯 毯子 | carpool: 拼车 顺风车 | carriage: 车厢 | carrot: 胡萝卜 红萝卜 |
carry: 携带 搬 背 | carsick motion_sickness seasick: 晕车 晕船 | cash: 现金 现钱 | cashew: 腰果 | cashier: 收银员 |
cashmere: 羊绒 | casserole: 砂锅 炖锅 焗菜 | cast_iron: 铸铁 | castle: 城堡 |
casual informal: 非正式 随意 口语化 休闲 口语 | cat kitty: 猫 猫咪 | cat_food: 猫粮 | cat_litter litter: 猫砂 |
catalog catalogue: 目录 | catalyst: 催化剂 | cataract: 白内障 | catch: 抓住 接住 抓 捉 | category: 类别 分类 |
caterpillar: 毛毛虫 | cathedral: 大教堂 | catholic: 天主教 | cattle cow: 牛 奶牛 | cauliflower: 花菜 菜花 |
causality causation: 因果关系 | cause: 原因 导致 引起 | cave: 山洞 洞穴 溶洞 | cavity tooth_decay: 蛀牙 龋齿 |
ceiling: 天花板 吊顶 | celebrate: 庆祝 庆典 过节 | celebration: 庆祝 庆典 | celebrity: 明星 名人 | celery: 芹菜 西芹 |
cell: 单元格 细胞 | cell_phone mobile_phone: 手机 智能手机 | cello: 大提琴 | cellphone mobile: 手机 电话 |
celsius: 摄氏度 摄氏 | cement: 水泥 混凝土 | cemetery graveyard: 墓地 公墓 陵园 | censorship: 审查 |
center centre middle: 中心 中央 | centimeter centimetre: 厘米 公分 | centipede: 蜈蚣 | century: 世纪 |
ceo: 总裁 首席执行 总经理 | ceramic: 陶瓷 瓷器 陶艺 陶器 | ceramics pottery: 陶艺 陶瓷 陶器 | cereal: 麦片 谷物 |
ceremony: 仪式 典礼 | certain: 确定 肯定 | certificate: 证书 证明 | certification certify: 认证 证明 |
chain: 链子 链条 连锁 | chain_store: 连锁店 | chair: 椅子 | chairman: 董事长 主席 总统 | chalk: 粉笔 |
challenge: 挑战 难题 | champagne: 香槟 | champion: 冠军 锦标赛 | champions_league: 欧冠 |
championship: 冠军 锦标赛 冠军赛 | chance opportunity: 机会 可能性 机遇 | chandelier: 吊灯 | changsha: 长沙 |
channel: 频道 渠道 | chapter: 章节 章 | character: 性格 角色 汉字 字符 人物 | characteristic: 特点 特征 特性 |
charge: 收费 充电 费用 电荷 充值 | charger: 充电器 充电头 | charging_cable: 充电线 数据线 |
charging_point: 充电桩 充电站 | charging_station: 充电站 充电桩 | charity: 慈善 慈善机构 | chart graph: 图表 曲线图 图 |
chase: 追赶 追 | chat: 聊天 对话 交谈 群聊 聊 谈 | chatbot: 机器人 聊天 | cheat: 出轨 作弊 劈腿 欺骗 外遇 骗 |
checklist: 清单 检查表 | checkup physical_exam: 体检 检查 | cheek: 脸颊 脸蛋 | cheerful: 开朗 快乐 | cheers: 干杯 |
cheese: 奶酪 芝士 | cheesecake: 芝士蛋糕 奶酪蛋糕 | cheetah: 猎豹 | chef: 厨师 大厨 做饭 | chemical: 化学 化学品 化工 |
chemist: 药店 化学家 药房 药剂师 | chemistry: 化学 | chemo chemotherapy: 化疗 | cheque: 支票 | cherry: 樱桃 车厘子 |
cherry_blossom: 樱花 | chess: 国际象棋 象棋 下棋 | chest: 胸 胸口 胸部 | chestnut: 栗子 板栗 | chew: 嚼 咀嚼 |
chewing_gum: 口香糖 | chewy: 有嚼劲 筋道 弹牙 | chiang_mai: 清迈 | chicago: 芝加哥 | chick: 小鸡 | chicken: 鸡肉 鸡 |
chicken_breast: 鸡胸肉 鸡胸 | chicken_leg drumstick: 鸡腿 | chicken_wing: 鸡翅 | chickenpox: 水痘 | chickpea: 鹰嘴豆 |
child: 孩子 小孩 儿童 | childbirth: 出生 生孩子 分娩 生产 | childhood: 童年 小时候 | childish: 幼稚 孩子气 |
children: 孩子 孩子们 儿童 小朋友 | childrens_day: 儿童节 | chile: 辣椒 智利 干辣椒 | chili chilli: 辣椒 干辣椒 |
chili_sauce chilli_sauce: 辣酱 辣椒酱 | chill refrigerate: 冷藏 冰镇 | chilly: 冷 凉 | chimpanzee: 黑猩猩 猩猩 |
chin: 下巴 | china: 中国 | chinese: 中文 汉语 中国人 语文 | chinese_cabbage napa: 大白菜 白菜 |
chinese_medicine tcm: 中医 中药 | chinese_zodiac: 生肖 属相 | chip: 芯片 薯片 薯条 |
chips french_fries fries: 薯条 薯片 | chives: 韭菜 细香葱 | chlorine: 氯气 氯 | chlorophyll: 叶绿素 |
chocolate: 巧克力 | choice: 选择 | choir: 合唱团 | cholesterol: 胆固醇 血脂 | chongqing: 重庆 |
choose pick select: 选择 挑选 选 挑 | chop: 剁 切碎 砍 切 | chopping_board cutting_board: 砧板 菜板 案板 |
chopsticks: 筷子 | chord: 和弦 | chore chores housework: 家务 家务活 做家务 | christian christianity: 基督教 基督徒 |
christmas xmas: 圣诞节 圣诞 | christmas_eve: 平安夜 | christmas_tree: 圣诞树 | chromosome: 染色体 |
chronic: 慢性 慢性病 | chrysanthemum: 菊花 | chubby plump: 胖 胖乎乎 微胖 | church: 教堂 教会 | cicada: 蝉 |
cigarette: 烟 香烟 | cilantro coriander: 香菜 | cinema movie_theater: 电影院 影院 | cinnamon: 肉桂 桂皮 |
circle: 圆形 圆圈 圆 圈 | circuit: 电路 | circuit_breaker: 断路器 空气开关 空开 跳闸 熔断 |
circumference perimeter: 周长 | circumstances: 情况 环境 | circus: 马戏团 | citation: 引用 引文 | citizen: 公民 市民 |
citizenship nationality: 国籍 | city: 城市 | city_centre downtown: 市中心 市区 | city_hall town_hall: 市政厅 市政府 |
civil_engineering: 土木工程 土木 | civil_servant: 公务员 | claim: 理赔 索赔 声称 | clam: 蛤蜊 蛤 | clarinet: 单簧管 |
clash: 冲突 | class: 课 班级 班 类 | classical_music: 古典音乐 古典乐 | classification classify: 分类 |
classmate: 同学 | classroom: 教室 | clause: 条款 | claustrophobia: 幽闭恐惧 幽闭 | claw: 爪子 爪 |
clay: 黏土 粘土 陶土 | clean: 清洁 干净 打扫 清洗 清理 保洁 | cleaner: 清洁剂 保洁 清洁工 |
cleaning: 清洁 打扫 保洁 清洗 | clear: 清楚 清晰 明确 透明 | clever intelligent smart: 聪明 智能 | click: 点击 单击 |
client: 客户 客户端 顾客 委托人 | cliff: 悬崖 | climate: 气候 | climate_change: 气候变化 全球变暖 |
climb: 爬山 爬 攀岩 攀登 登山 | climbing: 爬山 攀岩 攀登 爬 登山 | cling_film plastic_wrap: 保鲜膜 | clinic: 诊所 门诊 |
clock: 闹钟 | clog clogged: 堵塞 堵 | clone cloning: 克隆 | close shut: 关闭 关上 关 |
closet wardrobe: 衣柜 衣橱 衣帽间 | cloth: 抹布 布料 面料 衣服 服装 衣物 | clothes clothing: 衣服 服装 衣物 |
clothes_dryer: 烘干机 | cloud: 云彩 云端 云朵 云 | cloud_drive cloud_storage: 网盘 云盘 云存储 |
cloudy overcast: 多云 阴天 | clue: 线索 | clumsy: 笨拙 笨手笨脚 | cluster: 集群 聚类 | clustering: 聚类 |
clutch: 离合 离合器 | coach: 教练 大巴 长途车 | coal: 煤 煤炭 | coast seaside: 海边 海岸 | coat: 大衣 外套 涂层 |
coating: 涂层 | cockroach: 蟑螂 | cocktail: 鸡尾酒 | cocoa hot_chocolate: 热巧克力 | coconut: 椰子 椰 | cod: 鳕鱼 |
code: 代码 编码 编程 密码 | code_review: 代码审查 代码评审 审查 | coding programming: 编程 写代码 | coffee: 咖啡 |
coffee_machine coffee_maker: 咖啡机 | coffee_table: 茶几 | coin: 硬币 | coincidence: 巧合 凑巧 | cola: 可乐 |
cold: 感冒 冷 寒冷 着凉 | cold_snap cold_wave: 寒潮 降温 | cold_water: 冷水 凉水 |
collaborate collaboration: 合作 协作 | collar: 领子 衣领 项圈 | colleague coworker: 同事 | collect: 收集 收藏 领取 |
collection: 收藏 收集 系列 | college: 学院 大学 大专 | cologne: 科隆 | colombia: 哥伦比亚 | colonoscopy: 肠镜 |
color colour: 颜色 色彩 | color_scheme colour_scheme palette: 配色 色调 调色板 |
colored_pencil coloured_pencil: 彩铅 彩色铅笔 | colorful colourful: 彩色 五颜六色 | column: 专栏 柱子 列 栏 |
comb: 梳子 梳 | combination: 组合 搭配 | combine: 结合 组合 合并 搭配 | combustion: 燃烧 | comedy: 喜剧 | comet: 彗星 |
comfort: 舒适 安慰 | comfortable cosy cozy: 舒服 舒适 温馨 | comforter duvet quilt: 被子 棉被 羽绒被 |
comic manga: 漫画 | comma: 逗号 | command: 命令 指令 | command_line: 命令行 终端 | comment: 评论 注释 留言 |
commercial: 商业 广告 | commission: 佣金 提成 | commit: 提交 承诺 | common: 常见 共同 普遍 | communicate: 沟通 交流 |
communication: 沟通 交流 通讯 | communism communist: 共产党 共产主义 | community: 社区 群体 小区 |
commute commuting: 通勤 上下班 | company firm: 公司 企业 | compare: 相比 比较 | comparison: 比较 |
compass: 指南针 罗盘 | compatible: 兼容 | compensate: 赔偿 补偿 | compensation: 赔偿 补偿 赔偿金 | compete: 竞争 比赛 |
competition: 比赛 竞争 竞赛 赛事 | competitor rival: 竞争对手 对手 | compile: 编译 | compiler: 编译器 |
complain: 抱怨 投诉 | complaint: 投诉 抱怨 | complete: 完成 结束 | completely totally: 完全 彻底 |
complex complicated: 复杂 | compliment: 赞美 表扬 夸奖 称赞 夸 | component: 零件 部件 组件 元件 | composer: 作曲家 |
composition: 作文 构图 组成 | compost: 堆肥 | compound: 化合物 | compress compression: 压缩 压缩包 |
compressor: 压缩机 | compromise: 妥协 让步 | computer pc: 电脑 计算机 | computer_science: 计算机 |
concentrate focus: 专注 集中 专心 重点 焦点 | concentration: 浓度 专注 | concept: 概念 | concert: 演唱会 音乐会 |
concise: 简洁 简短 | conclude: 总结 得出结论 | conclusion: 结论 结尾 | concrete: 水泥 混凝土 具体 |
concurrency concurrent: 并发 | condensation condense: 冷凝 凝结 | condiment seasoning: 调料 调味料 佐料 |
condition: 条件 状况 状态 | conditioner: 护发素 | condolence: 慰问 节哀 吊唁 | condom: 避孕套 安全套 |
conductor: 列车员 导体 指挥 | cone: 圆锥 锥体 锥形 | conference: 会议 研讨会 | confess: 表白 告白 坦白 |
confidence confident: 自信 信心 | confidence_interval: 置信区间 | config configuration: 配置 设置 | confirm: 确认 证实 |
confirmation: 确认 确认函 | conflict: 冲突 矛盾 | confuse: 混淆 弄混 困惑 迷茫 糊涂 | confused: 困惑 迷茫 糊涂 |
confusing: 困惑 迷茫 糊涂 容易混淆 令人困惑 | congee porridge: 粥 稀饭 | congratulate congratulation: 恭喜 祝贺 |
congress parliament: 议会 国会 | connect: 连接 联系 连 | connecting_flight: 转机 联程 | connection: 连接 联系 关系 |
consciousness: 意识 知觉 | consequence outcome: 结果 | consider: 考虑 认为 | consideration: 考虑 因素 |
constant: 常量 持续 常数 恒定 不断 | constellation: 星座 | constipated constipation: 便秘 |
construction: 施工 建筑 建设 | construction_site: 工地 | consulate: 领事馆 | consultant: 顾问 咨询师 |
consumer: 消费者 | contact: 联系 联系方式 联络 联系人 接触 | contact_lens: 隐形眼镜 |
contagious infectious: 传染 传染病 | contain: 包含 含有 | container: 容器 集装箱 | content: 内容 |
contest: 比赛 竞赛 竞争 | context: 上下文 语境 背景 | continent: 大陆 | continue: 继续 接着 | contract: 合同 合约 |
contractor: 装修公司 承包商 包工头 | contradiction: 矛盾 | contrast: 反差 对比度 | control: 控制 管理 |
controller: 手柄 控制器 | convenience convenient: 方便 便利 | convenience_store: 便利店 | conversation: 对话 谈话 聊天 |
conversion convert: 换算 转换 转化 | conveyor conveyor_belt: 传送带 输送带 | convince persuade: 说服 劝 |
cook: 做饭 厨师 烹饪 煮 大厨 做菜 | cooked: 熟 煮熟 熟食 | cooker hob stove: 炉灶 炉子 灶台 煤气灶 灶 |
cooking: 烹饪 做饭 厨艺 做菜 | cooking_wine: 料酒 黄酒 | cookware kitchenware: 厨具 炊具 | cool: 凉快 凉 冷却 散热 酷 |
cooling: 冷却 散热 | cooperate cooperation: 合作 | coordinate: 坐标 | copper: 铜 | copy: 复印 复制 拷贝 复印件 副本 抄 |
copyright: 版权 | coral: 珊瑚 | core: 核心 | corgi: 柯基 | corn sweetcorn: 玉米 | corner: 拐角 角落 街角 角 |
cornflour cornstarch starch: 淀粉 玉米淀粉 | coronavirus covid: 新冠 新冠病毒 疫情 | corporation: 公司 集团 |
correct: 改正 正确 纠正 修改 | correction: 修改 纠正 | correlation: 相关性 相关 | corridor hallway: 走廊 过道 玄关 |
corrode corrosion: 腐蚀 | corruption: 腐败 贪污 | cosmetic_surgery plastic_surgery: 整容 整形 医美 |
cosmos universe: 宇宙 | cost_effective good_value: 性价比 划算 | costume: 服装 戏服 | cot crib: 婴儿床 |
cotton: 棉 纯棉 棉花 | couch sofa: 沙发 | cough: 咳嗽 咳 | cough_syrup: 止咳糖浆 止咳药 |
counseling counselling: 心理咨询 咨询 辅导 | count: 计数 数量 计算 数 | counterfeit fake: 假货 山寨 伪造 假 |
countertop worktop: 台面 操作台 | country: 国家 乡下 | countryside rural: 农村 乡下 乡村 | county: 县 |
couplet: 对联 春联 | coupon voucher: 优惠券 代金券 券 | courage: 勇气 | courgette zucchini: 西葫芦 |
courier: 快递 快递员 外卖员 骑手 快递小哥 | course: 课程 课 | court: 法院 法庭 球场 | courtyard: 院子 |
cousin: 表哥 表弟 表姐 堂哥 表妹 | cover: 封面 覆盖 盖子 盖 遮 | cover_letter: 求职信 自荐信 |
coward: 胆小 胆小鬼 懦夫 | cowardly timid: 胆小 懦弱 | cpu processor: 处理器 | crab: 螃蟹 蟹 |
crack: 裂缝 裂纹 开裂 裂 | craft handicraft: 手工 手工艺 | cram: 突击 填鸭 | cramp: 抽筋 痉挛 | crane: 鹤 起重机 吊车 |
crash: 崩溃 撞车 闪退 车祸 | crawl: 爬 爬行 | crawler scraper web_scraping: 爬虫 抓取 | crayfish: 小龙虾 |
crayon: 蜡笔 | cream: 奶油 淡奶油 霜 | crease: 皱纹 褶皱 皱 | create: 创建 创造 创作 | creative: 有创意 创意 |
creativity: 创意 创造力 | creche daycare: 托儿所 日托 托班 | credit: 信用 信贷 学分 | credit_card: 信用卡 |
credit_score: 信用评分 征信 信用分 | cremate cremation: 火化 | cricket: 板球 蟋蟀 蛐蛐 | crime: 犯罪 罪行 |
criminal: 罪犯 犯人 | crisis: 危机 | crisps: 薯片 | crispy crunchy: 酥脆 香脆 脆 | criteria criterion: 标准 条件 |
criticise criticize: 批评 指责 | criticism: 批评 | croatia: 克罗地亚 | crochet: 钩针 钩织 | croissant: 可颂 牛角包 |
cron scheduled_task scheduler: 定时任务 调度 定时 | crooked: 歪 弯 | cross: 十字 穿过 过马路 |
crossroads intersection: 路口 十字路口 | crosstalk: 相声 | crosswalk zebra_crossing: 斑马线 人行横道 |
crossword: 填字游戏 | crow raven: 乌鸦 | crowd: 人群 | crowded: 拥挤 挤 | cruel: 残忍 | cruise: 邮轮 游轮 |
crunch: 仰卧起坐 卷腹 | crush: 暗恋 压碎 喜欢 | crutch: 拐杖 | cry: 哭 哭闹 流泪 哭泣 |
crypto cryptocurrency: 加密货币 虚拟货币 | crystal: 晶体 水晶 | ct_scan: 扫描 | cuba: 古巴 | cube: 立方体 立方 方块 |
cubic: 立方 三次 | cuckoo: 布谷鸟 杜鹃 | cucumber: 黄瓜 | cuisine: 菜系 美食 料理 | culture: 文化 | cumin: 孜然 |
cup: 杯子 杯 | cupcake muffin: 纸杯蛋糕 玛芬 | cupping: 拔罐 | cure heal: 治好 治愈 治疗 愈合 |
curiosity curious: 好奇 好奇心 | currency: 货币 币种 | curriculum syllabus: 课程 教学大纲 | curry: 咖喱 | cursor: 光标 |
curtain: 窗帘 | curve: 曲线 弯道 弯曲 弧形 | curved: 弯曲 弧形 | cushion: 靠垫 坐垫 抱枕 垫子 | custody: 抚养权 监护权 |
custom: 习俗 定制 风俗 自定义 海关 清关 | customer: 顾客 客户 客人 | customer_service: 客服 客户服务 |
customise customize: 定制 自定义 | customs customs_clearance: 海关 清关 报关 | cut: 剪切 剪 砍 削减 切 |
cutlery tableware: 餐具 刀叉 | cv resume: 简历 履历 | cycle: 骑车 周期 骑行 自行车 | cycling: 骑车 骑行 自行车 |
cylinder: 圆柱 气缸 圆柱体 | czechia: 捷克 | dad daddy father: 爸爸 父亲 爸 老爸 | daily: 日常 | daisy: 雏菊 |
dalian: 大连 | damage: 损坏 损害 损失 破坏 破损 | damaged: 损坏 破损 | damp: 潮湿 受潮 湿润 湿 |
dance dancing: 跳舞 舞蹈 街舞 | dancer: 舞者 舞蹈演员 | dandruff: 头皮屑 头屑 | danger dangerous: 危险 |
daoism taoism: 道教 道家 | dare: 敢 | dark: 深色 暗 黑暗 黑 | dark_circles: 黑眼圈 |
dark_mode: 深色模式 暗黑模式 夜间模式 | dashboard: 仪表盘 仪表板 看板 | dashcam: 记录仪 | data: 数据 资料 |
data_analysis data_analytics: 数据分析 | data_cleaning: 数据清洗 清洗 | data_mining: 数据挖掘 | data_plan: 流量 套餐 |
data_set dataset: 数据集 | data_structure: 数据结构 | database: 数据库 | daughter: 女儿 闺女 |
dawn sunrise: 黎明 清晨 日出 | dead: 死 没电 | deadlift: 硬拉 | deadline: 截止日期 期限 截止时间 预产期 截止 到期日 |
deadlock: 死锁 | deaf: 聋 失聪 聋哑 | deal: 交易 协议 | dealer: 经销商 代理商 | death: 死亡 去世 | debate: 辩论 争论 |
debit_card: 借记卡 储蓄卡 | debt: 债务 债 欠款 | debug debugging: 调试 排错 | decade: 年代 十年 |
deceive fool: 欺骗 骗 | december: 十二月 | decide: 决定 拿主意 确定 | decimal: 小数 小数点 十进制 |
decimal_point: 小数点 | decision: 决定 决策 | declare: 申报 宣布 | declutter: 收拾 整理 断舍离 | decor: 装饰 摆件 软装 |
decorate: 装饰 装修 布置 | decoration: 装饰 摆件 装修 布置 装饰品 软装 | decrease reduce: 减少 降低 下降 减 |
decrypt decryption: 解密 | deduct deduction: 扣除 扣款 抵扣 | deep: 深度 深 | deep_fry: 油炸 炸 |
deep_learning: 深度学习 | deer: 鹿 | default: 默认 缺省 违约 | defect: 缺陷 瑕疵 次品 | defend: 防守 辩护 保卫 |
define definition: 定义 | deforestation: 砍伐 森林砍伐 | defrost thaw: 解冻 化冻 除霜 | dehumidifier: 除湿机 抽湿机 |
delay: 推迟 延期 延误 延迟 耽误 晚点 | delete: 删除 删掉 删 | delhi new_delhi: 德里 新德里 |
delicious tasty yummy: 美味 可口 好吃 | deliver: 配送 送货 交付 交付物 送达 派送 | deliverable: 交付 交付物 |
delivery: 送货 快递 配送 外卖 交货 | delivery_date lead_time: 交货期 交期 | delivery_driver: 快递员 外卖员 骑手 |
demand: 需求 要求 | democracy democratic: 民主 | demon devil: 魔鬼 恶魔 | demonstration: 示威 游行 演示 |
demote demotion: 降职 降级 | denim: 牛仔布 | denmark: 丹麦 | density: 密度 | dental_implant: 种植牙 种牙 |
dentist: 牙医 牙科 口腔科 | denture: 假牙 | deny: 否认 | department: 部门 | department_store: 百货商店 百货 |
departure: 出发 启程 离开 | depend: 取决于 依靠 看情况 | dependency dependent: 依赖 |
deploy deployment: 部署 上线 发布 | deposit: 押金 存款 定金 订金 | depressed: 抑郁 沮丧 低落 郁闷 |
depression: 抑郁症 抑郁 | depth: 深度 | derivative: 导数 衍生品 | dermatologist dermatology: 皮肤科 |
describe: 描述 形容 描写 | description: 描述 说明 描写 | desert: 沙漠 | desertification: 沙漠化 荒漠化 | deserve: 值得 |
design: 设计 | designer: 设计师 | desk: 书桌 办公桌 桌子 | desktop: 台式机 桌面 | despair: 绝望 | dessert: 甜点 甜品 |
destiny fate: 命运 缘分 | destroy: 破坏 毁掉 摧毁 | detail: 细节 详情 详细 | detailed: 详细 |
detective_story: 侦探小说 推理小说 | detergent: 洗涤剂 洗衣液 清洁剂 | determinant: 行列式 | determine: 决定 确定 |
detour: 绕路 绕道 | develop: 开发 发展 培养 | developer programmer: 程序员 码农 开发者 开发人员 |
developer_tools: 开发工具 | development: 开发 发展 | deviation: 偏差 | device: 设备 装置 | deworm deworming: 驱虫 |
diabetes: 糖尿病 | diagnose diagnosis: 诊断 确诊 | diagonal: 对角线 斜 | diagram: 示意图 图表 图解 图 | dialect: 方言 |
dialysis: 透析 | diameter: 直径 | diamond: 钻石 | diaper nappy: 尿布 纸尿裤 尿不湿 | diarrhea diarrhoea: 拉肚子 腹泻 |
diary journal: 日记 日志 手账 | dice: 切丁 骰子 | dictatorship: 独裁 | dictionary: 词典 字典 | die: 去世 死 过世 |
diesel: 柴油 | diet: 饮食 减肥 节食 | dieting: 减肥 节食 | dietitian nutritionist: 营养师 | difficult: 困难 难 |
difficulty: 困难 难度 | dig: 挖 | digest digestion: 消化 | digit: 数字 位数 | digital: 数字 数码 | dignity: 尊严 |
diligent hardworking: 勤奋 努力 勤劳 用功 | dilute: 稀释 | dim: 昏暗 暗 | dim_sum: 点心 早茶 | dimension: 维度 尺寸 |
dining_room: 餐厅 饭厅 | dinner supper: 晚餐 晚饭 | dinosaur: 恐龙 | diploma: 文凭 毕业证 | diplomacy: 外交 |
diplomat: 外交官 | direct_flight: 直飞 | direction: 方向 | director: 导演 总监 主任 董事 |
directory folder: 文件夹 目录 | dirt: 污垢 泥土 | dirty: 脏 肮脏 | disability disabled: 残疾 残障 残疾人 |
disable: 禁用 关闭 残疾 残障 残疾人 | disadvantage drawback: 缺点 劣势 坏处 | disagree: 不同意 反对 分歧 |
disappear vanish: 消失 不见 | disappointed disappointment: 失望 | disassemble dismantle: 拆卸 拆 拆开 |
disaster natural_disaster: 自然灾害 灾难 灾害 | discard: 扔掉 丢掉 丢弃 | discharge: 出院 |
discipline self_discipline: 自律 纪律 | disconnect: 断开 断线 掉线 | discount: 折扣 打折 优惠 |
discover discovery: 发现 | discrimination: 歧视 | discuss: 讨论 商量 谈论 | discussion: 讨论 商量 |
disease illness sickness: 病 疾病 病情 | disgusted: 恶心 | disgusting gross: 恶心 难吃 | dish: 菜 菜肴 盘子 菜品 |
dish_soap: 洗洁精 | dishonest: 不诚实 | dishwasher: 洗碗机 | dishwashing: 洗碗 | disinfect disinfectant: 消毒 消毒液 |
disk: 磁盘 硬盘 | dislike: 不喜欢 讨厌 | dismiss: 解雇 开除 辞退 | display: 显示器 显示 屏幕 展示 监控 陈列 |
dissertation thesis: 论文 毕业论文 | dissolve: 溶解 | distance: 距离 | distinction: 区别 差别 |
distinguish: 区分 区别 分辨 | distract: 分心 分散 | distribution: 分布 分配 分发 |
distributor: 经销商 代理商 批发商 分销商 | district: 地区 | dive diving: 潜水 跳水 | divide: 除以 除法 划分 |
dividend: 分红 股息 | division: 除法 部门 除以 | divorce divorced: 离婚 离异 | diy: 手工 自己动手 |
dizziness dizzy: 头晕 晕 眩晕 | doc: 文档 文件 | dock pier wharf: 码头 | doctor physician: 医生 大夫 |
doctorate phd: 博士 | document: 文件 文档 材料 资料 | documentary: 纪录片 | documentation: 文档 说明文档 |
dog: 狗 狗狗 小狗 | dog_food: 狗粮 | doll: 娃娃 洋娃娃 | dolphin: 海豚 | domain domain_name: 域名 领域 |
domestic: 国内 家用 | donate: 捐款 捐 捐赠 | donation: 捐款 捐赠 | doneness: 熟度 几分熟 | donkey: 驴 |
donut doughnut: 甜甜圈 | door: 房门 门口 大门 门 | doorbell: 门铃 | doorknob: 门把手 把手 | dorm dormitory: 宿舍 |
dosage dose: 剂量 用量 | dot: 圆点 小点 | double_room: 双人间 双人房 大床房 | doubt: 怀疑 疑问 |
doubtful suspicious: 可疑 怀疑 | dough: 面团 | dove pigeon: 鸽子 | downgrade: 降级 | download: 下载 |
downpour heavy_rain rainstorm: 大雨 暴雨 | downstairs: 楼下 | dowry: 嫁妆 | draft: 草稿 初稿 起草 | drag: 拖动 拖拽 |
dragon: 龙 | dragon_dance lion_dance: 舞狮 舞龙 | dragon_fruit: 火龙果 | dragonfly: 蜻蜓 |
drain: 沥干 下水道 地漏 排水 | drainpipe sewer: 下水道 下水管 | drama tv_series tv_show: 电视剧 连续剧 剧 |
draw: 画 绘画 画画 图纸 图画 素描 | drawer: 抽屉 | drawing: 画画 绘画 素描 图纸 画 图画 | dream: 梦 做梦 梦想 |
dress: 连衣裙 裙子 穿衣 沙拉酱 调料汁 | dressing salad_dressing: 沙拉酱 调料汁 | drill: 电钻 打孔 钻头 钻孔 钻 |
drink: 饮料 喝酒 饮品 喝 | drinking: 喝 喝酒 饮料 | drip: 输液 滴水 打点滴 吊水 滴 | drive driving: 开车 驾驶 |
driver: 司机 驾驶员 | driver_license driving_licence: 驾照 驾驶证 | driving_school: 驾校 |
driving_test: 路考 驾考 科目二 | drizzle: 小雨 毛毛雨 | drone: 无人机 | drop: 下降 摔 掉 | dropdown: 下拉 下拉菜单 |
drought: 干旱 | drowsy: 犯困 困 | drug: 药 毒品 药物 | drugstore pharmacy: 药店 药房 | drum: 鼓 架子鼓 |
drunk: 醉 喝醉 喝多 | drunk_driving: 酒驾 | dry: 干燥 晾干 烘干 干 | dry_cleaning: 干洗 | dry_eye: 干眼症 眼睛干 |
dryer tumble_dryer: 烘干机 干衣机 | drywall plasterboard: 石膏板 | dubai: 迪拜 | dublin: 都柏林 | duck: 鸭子 鸭肉 鸭 |
due_date: 预产期 截止日期 期限 到期日 | dull: 无聊 枯燥 没意思 | dumb: 笨 蠢 傻 | dumbbell: 哑铃 |
dummy pacifier: 奶嘴 安抚奶嘴 | dumpling: 饺子 水饺 | durable sturdy: 耐用 结实 牢固 坚固 | durian: 榴莲 |
dusk: 日落 傍晚 黄昏 夕阳 | dust: 灰尘 尘土 除尘 | dutch: 荷兰语 荷兰人 | duty: 职责 责任 义务 值班 |
duty_free: 免税 免税店 | dye: 染 染色 染料 | eagle hawk: 老鹰 鹰 | ear: 耳朵 耳 | earbuds: 耳机 耳塞 |
earn: 赚 赚钱 挣 | earphones headphones headset: 耳机 | earplug: 耳塞 | earring: 耳环 耳钉 | earth: 地球 泥土 |
earthquake: 地震 | earthworm: 虫 蚯蚓 | east: 东方 东部 东边 东 | easter: 复活节 | eat: 吃饭 食用 |
eating_disorder: 厌食症 暴食症 进食障碍 | ebook: 电子书 | eclipse: 日食 月食 | ecological ecology: 生态 生态学 |
economic: 经济 经济学 | economics: 经济学 | economy: 经济 | economy_class: 经济舱 | ecosystem: 生态系统 生态 |
eczema: 湿疹 | edge: 边缘 边 | edible: 可食用 | edinburgh: 爱丁堡 | edit: 编辑 修改 | editor: 编辑 |
education: 教育 学历 | effect: 效果 影响 作用 | effective valid: 有效 | efficiency: 效率 |
efficient: 高效 有效率 效率高 | effort: 努力 精力 | egg: 鸡蛋 蛋 | egg_white: 蛋白 蛋清 | egg_yolk yolk: 蛋黄 |
egypt: 埃及 | eid: 开斋节 | elastic: 松紧带 弹性 | elbow: 手肘 胳膊肘 肘部 | elderly old_people senior: 老人 老年人 |
election: 选举 大选 | electric electrical: 电动 电气 | electric_bike: 电动车 电瓶车 | electric_blanket: 电热毯 |
electric_car electric_vehicle ev: 电动车 电动汽车 新能源车 | electric_current: 电流 | electric_shock: 触电 |
electric_toothbrush: 电动牙刷 | electrician: 电工 | electricity: 电力 用电 停电 电 | electricity_bill: 电费 |
electricity_meter: 电表 | electromagnetic: 电磁 | electron: 电子 | elegant graceful: 优雅 高雅 | element: 元素 要素 |
elementary_school primary_school: 小学 | elephant: 大象 象 | elevator: 电梯 | elk moose: 驼鹿 | elliptical: 椭圆机 |
email: 邮件 邮箱 电子邮件 | email_address: 邮箱 邮箱地址 | embarrassed embarrassing: 尴尬 丢脸 不好意思 |
embassy: 大使馆 使馆 | embedding: 嵌入 向量 | embroidery: 刺绣 绣花 | emergency: 紧急 急诊 应急 |
emergency_room er: 急诊 急诊室 | emigrate: 移民 移居 | emission: 排放 尾气 | emoji: 表情 表情符号 | emotion: 情绪 情感 |
emotional: 情绪化 感性 激动 | emphasise emphasize: 强调 | employ: 雇用 聘请 招聘 雇 | employee: 员工 职员 雇员 |
employer: 雇主 用人单位 老板 | enable: 启用 开启 | encoding: 编码 | encourage: 鼓励 支持 | encrypt encryption: 加密 |
endangered: 濒危 | endoscopy gastroscopy: 胃镜 内镜 | endurance: 耐力 | endure: 忍受 承受 忍 | enemy: 敌人 |
energetic: 精力充沛 活力 | energy: 能源 精力 能量 | energy_saving: 节能 省电 | energy_storage: 储能 |
engaged engagement: 订婚 | engine: 发动机 引擎 | engine_oil: 机油 | engineer: 工程师 工程 工程学 |
engineering: 工程 工程学 | england: 英格兰 英国 | english: 英语 英文 | enjoy: 享受 喜欢 | enlarge magnify: 放大 |
enormous huge: 巨大 庞大 | enrol enroll enrollment enrolment: 入学 报名 注册 | enter: 进入 输入 | enterprise: 企业 |
entertain: 娱乐 招待 | entertainment: 娱乐 | enthusiasm: 热情 | enthusiastic: 热情 积极 | entire: 整个 全部 |
entrance: 入口 门口 玄关 | entrance_exam: 入学考试 高考 | envelope: 信封 | envious envy: 羡慕 嫉妒 | environment: 环境 |
environment_variable: 环境变量 | environmental_protection: 环保 环境保护 | enzyme: 酶 | epidemic pandemic: 疫情 大流行 |
epilepsy: 癫痫 | episode: 剧集 | epoch: 轮次 时代 | equal: 等于 相等 平等 | equality: 平等 |
equation: 方程 方程式 等式 | equator: 赤道 | equipment: 设备 器材 装备 | eraser: 橡皮 橡胶 | erhu: 二胡 |
error: 错误 失误 报错 出错 差错 误差 | escalator: 扶梯 自动扶梯 | escape: 逃跑 逃 逃离 | escape_room: 密室逃脱 密室 |
especially: 尤其 特别 | esports: 电竞 | espresso: 浓缩咖啡 意式浓缩 | essay: 作文 散文 文章 论文 |
essential necessary: 必要 必需 必备 | estate_agent realtor: 中介 房产中介 | estimate: 估计 估算 预估 |
etiquette: 礼貌 礼仪 礼节 | eulogy: 悼词 | europe: 欧洲 | european: 欧洲人 欧洲 | european_championship: 欧洲杯 |
european_union: 欧盟 | evaporate evaporation: 蒸发 | event: 事件 活动 | evict: 赶走 驱逐 | evidence: 证据 证明 |
evolution evolve: 进化 演化 | ex: 前任 前男友 前女友 | ex_boyfriend: 前男友 前任 | ex_girlfriend: 前女友 前任 |
ex_husband: 前夫 | ex_wife: 前妻 | exact: 准确 精确 确切 | exactly: 恰好 准确 | exam examination: 考试 |
example: 例子 示例 例如 | excavator: 挖掘机 | excellent: 优秀 出色 很棒 | exception: 异常 例外 | excess: 过量 多余 |
exchange: 换货 交换 兑换 交流 | exchange_rate: 汇率 | exchange_student: 交换生 | excited excitement: 兴奋 激动 |
exciting: 刺激 激动人心 | exclude: 排除 不包括 | excuse: 借口 理由 | executive: 高管 主管 |
exercise: 运动 锻炼 练习 习题 健身 | exhaust: 排气 尾气 疲惫 疲劳 筋疲力尽 疲倦 |
exhausted: 累 疲惫 疲劳 疲倦 筋疲力尽 累坏 | exhibition: 展览 画展 展会 | exist: 存在 | exit: 出口 退出 |
expand: 扩大 扩展 膨胀 | expect: 期待 预期 期望 预计 | expectation: 期望 期待 预期 |
expenditure spending: 支出 开支 消费 | expense: 费用 开支 支出 | experience: 经验 经历 体验 有经验 经验丰富 |
experienced: 有经验 经验丰富 | experiment: 实验 | expert: 专家 高手 | expiration: 到期 有效期 | expire: 过期 到期 失效 |
expired: 过期 到期 | expiry: 保质期 到期 有效期 过期 | explain: 解释 说明 讲解 | explanation: 解释 说明 |
explode explosion: 爆炸 | exponent: 指数 次方 幂 | exponential: 指数 指数级 | export: 出口 导出 |
express: 表达 快递 表示 | express_delivery: 快递 快递员 | expression: 表达 表情 | extend: 延长 延伸 延期 |
extension plugin: 插件 扩展 | extension_lead: 插排 插线板 接线板 | extent: 程度 范围 | extinct extinction: 灭绝 |
extra: 额外 多余 | extract unzip: 解压 提取 | extraction pull_tooth: 拔牙 | extractor: 抽油烟机 油烟机 |
extractor_hood range_hood: 油烟机 抽油烟机 | extrovert extroverted outgoing: 开朗 | eye: 眼睛 双眼 眼 |
eye_drops: 眼药水 | eyebrow: 眉毛 | eyelash: 睫毛 眼睫毛 | eyelid: 眼皮 眼睑 | fabric: 面料 布料 织物 布 |
fabric_softener softener: 柔顺剂 | face: 脸 脸部 面部 | face_recognition: 人脸识别 | fact: 事实 |
factory: 工厂 厂 厂房 | faculty: 学院 教职工 | fade: 褪色 掉色 | fahrenheit: 华氏度 华氏 |
fail: 不及格 失败 挂科 没成功 | failure: 失败 故障 | faint: 晕倒 昏倒 晕 | fair: 公平 展会 公正 |
fairness justice: 正义 公平 公正 | fairy_tale: 童话 童话故事 | fake_news: 假新闻 谣言 |
fall: 秋天 跌倒 下跌 摔倒 下降 摔跤 | false: 假 错误 | familiar: 熟悉 | family: 家人 家庭 家里 |
family_doctor gp: 家庭医生 全科医生 医生 | famous: 有名 出名 | fan: 风扇 粉丝 球迷 电扇 关注者 | far: 远 遥远 |
fare: 车费 票价 | farewell goodbye: 告别 再见 送别 | farm: 农场 | farmer: 农民 | fart: 放屁 屁 | fashion: 时尚 时装 |
fashionable stylish trendy: 时尚 流行 时髦 潮流 | fast_food: 快餐 | fat: 胖 脂肪 肥 |
father_christmas santa_claus: 圣诞老人 | fathers_day: 父亲节 | fatigue tiredness: 疲劳 疲倦 乏力 疲惫 |
faucet tap: 水龙头 龙头 | fault: 故障 过错 错 | fear: 恐惧 害怕 | feather: 羽毛 | feature: 功能 特性 特点 特征 |
feature_engineering: 特征工程 | february: 二月 | fee: 费用 手续费 | feed: 喂养 喂奶 喂 | feedback: 反馈 意见 |
feel: 感觉 觉得 感受 | feeling: 感觉 感受 心情 感情 | female: 女性 雌性 女 | feminism: 女权 女权主义 |
fence: 栅栏 围栏 篱笆 击剑 | fencing: 击剑 | feng_shui: 风水 | ferment fermentation: 发酵 | fern: 蕨类 蕨 |
ferry: 渡轮 轮渡 渡船 | fertiliser fertilizer: 肥料 施肥 | festival: 节日 | fever: 发烧 发热 高烧 |
fiber fibre: 纤维 膳食纤维 | fiber_optic fibre_optic: 光纤 光缆 | fiction: 虚构 | field: 字段 领域 场地 田 |
fig: 无花果 | fight: 吵架 打架 战斗 | figure: 身材 数字 人物 图 | file: 文件 档案 |
fill: 填写 装满 填充 馅料 补牙 填料 | filling: 馅 馅料 填料 补牙 | film movie: 电影 影片 | film_camera: 胶片相机 |
filter: 过滤 筛选 滤镜 滤芯 滤网 过滤器 | final: 决赛 最终 期末 | final_exam: 期末考试 期末 | finance: 财务 金融 理财 |
financial: 财务 金融 经济 | finger: 手指 指头 | fingernail: 指甲 | fingerprint: 指纹 | finland: 芬兰 |
fire: 火灾 着火 开除 解雇 火 | fire_engine: 消防车 | fire_extinguisher: 灭火器 | fire_station: 消防站 消防队 |
firecracker: 鞭炮 爆竹 | firefighter fireman: 消防员 | firefly: 萤火虫 | fireplace: 壁炉 | firewall: 防火墙 |
firework: 烟花 烟火 | fireworks: 烟花 | first_aid: 急救 急救包 | first_class: 头等舱 一等座 | first_name: 名字 |
fish: 鱼 鱼肉 钓鱼 捕鱼 | fish_tank: 鱼缸 水族馆 | fisherman: 渔民 | fishing: 钓鱼 捕鱼 | fishing_rod: 鱼竿 钓竿 |
fist: 拳头 | fit: 合身 合适 适合 健身 | fitness: 健身 体能 | fitness_tracker: 手环 |
fix mend repair: 修 修理 维修 修复 | flag: 旗 旗帜 国旗 | flamingo: 火烈鸟 | flash: 闪光灯 闪光 闪 |
flash_drive usb_drive: 优盘 闪存盘 | flashcard: 单词卡 卡片 | flashlight torch: 手电筒 手电 |
flat: 公寓 平坦 房子 套房 平 | flat_sharing: 合租 | flat_tyre: 爆胎 漏气 | flatmate roommate: 室友 舍友 合租 |
flavor flavour: 味道 口味 风味 | flea: 跳蚤 | flea_market: 跳蚤市场 | flexible: 灵活 柔软 弹性 |
flight: 航班 飞机 机票 | flight_attendant stewardess: 空姐 空乘 | flirt: 暧昧 调情 撩 | float: 漂浮 浮 |
flood: 洪水 水灾 | floor: 地板 楼层 地面 楼 层 | floor_plan: 户型图 平面图 | flooring: 地板 地面 | florence: 佛罗伦萨 |
florida: 佛罗里达 佛州 | florist: 花店 | flour: 面粉 | flow: 流动 流程 流 | flow_chart flowchart: 流程图 |
flower: 花 花朵 鲜花 | flowerpot planter: 花盆 | flu influenza: 流感 感冒 | fluency: 流利度 流利 | fluent: 流利 |
flush: 冲水 | flute: 长笛 笛子 | fly: 苍蝇 飞 | flyover overpass: 天桥 高架 立交桥 | foam: 泡沫 | fog foggy: 雾 大雾 |
fold: 折叠 叠衣服 叠 折 | folk: 民谣 民间 | follow: 跟随 关注 遵循 | follower: 粉丝 关注者 | font typeface: 字体 |
food: 食物 食品 | food_allergy: 过敏 食物过敏 | food_chain: 食物链 | food_delivery: 外卖 送餐 |
food_poisoning: 食物中毒 | football soccer: 足球 踢球 | football_pitch: 足球场 球场 | footer: 页脚 | footnote: 脚注 |
forbidden: 禁止 不允许 | force: 力量 | forecast: 预测 预报 预计 | forehead: 额头 脑门 | foreign: 外国 国外 |
foreign_currency: 外币 外汇 | foreign_key: 外键 | foreign_language: 外语 | foreigner: 外国人 老外 |
forest woods: 森林 树林 | forest_fire wildfire: 山火 森林火灾 | forget: 忘记 忘 | forgetful: 健忘 忘事 |
forgive: 原谅 宽恕 | fork: 叉子 叉 | forklift: 叉车 | form: 表格 表单 形式 表 | formal: 正式 | formaldehyde: 甲醛 |
format: 格式 格式化 | formula: 奶粉 公式 配方奶 配方 | fortnight two_weeks: 两个星期 两周 |
fortunately luckily: 幸好 幸运 | fortune: 财富 运气 | fortune_telling: 算命 | forward: 转发 | fossil: 化石 |
fossil_fuel: 化石燃料 | fountain: 喷泉 | fox: 狐狸 | fraction: 分数 部分 | fragile: 易碎 易碎品 脆弱 |
frame: 相框 画框 框架 框 | framework: 框架 | france: 法国 | franchise: 加盟 特许经营 | frankfurt: 法兰克福 |
fraud: 诈骗 骗局 欺诈 骗子 | freckle: 雀斑 | free: 免费 空闲 自由 有空 | free_shipping: 包邮 免运费 |
free_trial: 试用 免费试用 | freedom liberty: 自由 | freelance freelancer: 自由职业 | freestyle front_crawl: 自由泳 |
freeway highway motorway: 高速 高速公路 公路 | freeze: 冷冻 冻 卡住 结冰 冰冻 死机 | freezer: 冷冻室 冰柜 冷冻柜 冷冻 |
freezing: 冻 冰冻 结冰 | freight: 运费 货物 运输 货运 发货 物流 | french: 法语 法文 法国人 法国 | frequency: 频率 |
frequent: 经常 频繁 | fresh: 新鲜 清新 | fresher freshman: 新生 | friction: 摩擦 摩擦力 | friday: 星期五 礼拜五 周五 |
fridge refrigerator: 冰箱 | fried_chicken: 炸鸡 | fried_egg: 煎蛋 荷包蛋 | fried_rice: 炒饭 蛋炒饭 | friend: 朋友 好友 |
friendly: 友好 友善 | friendship: 友谊 友情 | frighten: 惊吓 害怕 吓 | frog: 青蛙 | front: 前面 正面 |
front_desk reception: 前台 接待处 | front_end frontend: 前端 | frost: 霜 霜冻 | frozen: 冷冻 速冻 冰冻 |
fruit: 水果 果实 | frustrated frustration: 沮丧 挫败 挫折 | fry: 炸 煎 炒 薯条 薯片 | frying_pan pan: 平底锅 煎锅 锅 |
fuel: 燃料 燃油 | fuel_consumption mileage: 油耗 里程 | full_marks: 满分 | full_moon: 满月 | full_stack: 全栈 |
full_stop: 句号 | full_time: 全职 | fun: 好玩 乐趣 有趣 | function: 函数 功能 作用 | fund: 基金 资金 |
funeral: 葬礼 丧事 追悼会 | fungi fungus: 真菌 | funny: 搞笑 好笑 幽默 有趣 | fur: 皮草 皮毛 毛皮 毛 |
furious rage: 愤怒 气死 暴怒 | furnish: 布置 配家具 带家具 | furnished: 带家具 | furniture: 家具 | fuse: 保险丝 熔断器 |
fussy picky: 挑剔 挑食 | future: 未来 | gain: 获得 收获 | gain_weight weight_gain: 长胖 增重 发胖 | galaxy: 星系 银河 |
gallbladder: 胆囊 胆 | gallon: 加仑 | gallstone: 胆结石 结石 | gamble gambling: 赌博 赌 | game: 游戏 比赛 |
game_console: 游戏机 主机 | gamepad: 手柄 | gaokao: 高考 | gap: 缝隙 差距 间隙 | gap_year: 间隔年 |
garage: 车库 修车厂 | garbage rubbish: 垃圾 | garbage_sorting rubbish_sorting: 垃圾分类 | garbled mojibake: 乱码 |
garden: 花园 院子 园子 园艺 种花 种植 | gardener: 园丁 | gardening: 园艺 种花 种植 养花 | garlic: 大蒜 蒜 蒜末 |
gas: 煤气 气体 燃气 天然气 汽油 | gas_bill: 燃气费 煤气费 | gas_station petrol_station: 加油站 |
gas_stove: 煤气灶 燃气灶 | gasoline petrol: 汽油 | gate: 大门 门 登机口 | gateway: 网关 | gather: 收集 聚集 聚会 聚餐 |
gathering: 聚会 聚餐 | gay: 同性恋 同志 | gear: 挡位 齿轮 装备 档位 | gearbox: 变速箱 | gecko: 壁虎 |
gelatin gelatine: 吉利丁 明胶 | gender sex: 性别 | gene: 基因 | generation: 一代 世代 代沟 | generator: 发电机 生成器 |
generous: 大方 慷慨 | genetic genetics: 遗传 基因 遗传学 | geneva: 日内瓦 | gentle: 温柔 温和 | gentleman: 先生 绅士 |
geography: 地理 | geology: 地质 地质学 | german: 德语 德文 德国人 德国 | german_shepherd: 德牧 牧羊犬 | germany: 德国 |
gesture: 手势 | ghost: 鬼 幽灵 鬼魂 | giant: 巨大 | gift present: 礼物 礼品 | gift_card: 礼品卡 购物卡 |
gift_money: 份子钱 礼金 | ginger: 姜 生姜 姜片 | giraffe: 长颈鹿 | girl: 女孩 女生 姑娘 | girlfriend: 女朋友 女友 |
glacier: 冰川 | glad: 高兴 开心 快乐 幸福 | glass: 玻璃 玻璃杯 杯子 眼镜 | glasses spectacles: 眼镜 | global: 全球 |
global_warming: 气候变化 全球变暖 变暖 | globalisation globalization: 全球化 | glove: 手套 | glue: 胶水 粘 胶 |
gluten: 麸质 | gluten_free: 无麸质 | glutinous_rice sticky_rice: 糯米 | goal: 目标 进球 球门 | goalkeeper: 守门员 门将 |
goat: 山羊 | god: 上帝 老天 神 | godfather: 干爹 教父 | godmother: 干妈 教母 | goggles: 泳镜 护目镜 |
goji_berry wolfberry: 枸杞 | gold golden: 金色 黄金 金 | gold_medal: 金牌 | golden_retriever: 金毛 金毛犬 |
golden_week: 黄金周 | goldfish: 金鱼 | golf: 高尔夫 高尔夫球 | good_looking handsome: 帅 帅气 英俊 | goose: 鹅 鹅肉 |
gorilla: 大猩猩 猩猩 | gossip: 八卦 闲话 | gout: 痛风 | government: 政府 | gpu graphics_card: 显卡 | grab: 抓住 抓 |
grade: 成绩 年级 分数 等级 | gradient: 梯度 渐变 | gradual: 逐渐 慢慢 | graduate graduation: 毕业 毕业典礼 毕业生 |
graduation_ceremony: 毕业典礼 | graffiti: 涂鸦 | grammar syntax: 语法 | grandchild grandchildren: 孙子 孙女 外孙 |
granddad grandfather grandpa: 爷爷 外公 姥爷 祖父 | granddaughter: 孙女 外孙女 |
grandma grandmother granny nan: 奶奶 外婆 姥姥 祖母 | grandparent grandparents: 爷爷奶奶 外公外婆 祖父母 |
grandson: 孙子 外孙 | grape: 葡萄 提子 | grapefruit: 西柚 葡萄柚 | graphic_design: 平面设计 | grass: 草 草地 |
grasshopper locust: 蚂蚱 蝗虫 | grassland prairie: 草原 | grate: 擦丝 磨碎 | grateful thankful: 感激 感恩 感谢 |
grater: 擦丝器 刨丝器 | grave tomb: 坟墓 墓 | gravity: 重力 引力 万有引力 | gray grey: 灰色 灰 |
greasy oily: 油腻 油 腻 | greece: 希腊 | greedy: 贪心 贪婪 | greek: 希腊语 希腊人 | green: 绿色 绿 |
green_bean: 四季豆 豆角 菜豆 | green_card permanent_residence: 绿卡 永居 永久居留 |
green_onion scallion spring_onion: 葱 小葱 葱花 | green_tea: 绿茶 | greenhouse: 温室 大棚 |
greenhouse_effect: 温室效应 | greenhouse_gas: 温室气体 | greet: 打招呼 迎接 祝福 问候语 祝福语 称呼 |
greeting: 祝福 问候语 称呼 祝福语 打招呼 | greeting_card: 贺卡 | grief mourn mourning: 悲痛 哀悼 | grill: 烤 烧烤 烤架 |
grind: 研磨 磨碎 磨 | grind_teeth: 磨牙 | groceries grocery: 杂货 买菜 食品 | groom: 美容 新郎 梳毛 |
grooming: 美容 梳毛 新郎 | ground_meat mince minced_meat: 肉末 肉馅 绞肉 | group: 小组 分组 团体 群 |
group_chat: 群聊 微信群 | group_tour: 跟团游 跟团 旅行团 | grow: 生长 增长 成长 长大 | growth: 生长 增长 发育 成长 |
growth_rate: 增长率 | guangdong: 广东 | guangzhou: 广州 | guarantee: 保修 保证 质保 担保 | guess: 猜 猜测 |
guest: 客人 宾客 嘉宾 | guide: 指南 导游 引导 攻略 | guidebook travel_guide: 攻略 旅游指南 | guilin: 桂林 |
guilt: 内疚 愧疚 有罪 | guilty: 内疚 有罪 愧疚 | guinea_pig: 豚鼠 荷兰猪 | guitar: 吉他 | gull seagull: 海鸥 |
gum: 牙龈 口香糖 | guzheng: 古筝 | gym: 健身房 健身 | gymnastics: 体操 |
gynaecologist gynaecology gynecologist gynecology: 妇科 妇产科 妇科医生 | habit: 习惯 | habitat: 栖息地 | hacker: 黑客 |
haemorrhoids hemorrhoids piles: 痔疮 | hail: 冰雹 | hainan: 海南 | hair: 头发 毛发 发型 |
hair_dryer hairdryer: 吹风机 电吹风 | hair_loss: 脱发 掉发 掉头发 | hair_salon: 理发店 发廊 美发店 |
hairdresser: 理发师 发型师 理发店 | hairstylist: 理发师 发型师 | halal: 清真 | half_marathon: 半马 | hall: 大厅 礼堂 |
halloween: 万圣节 | ham: 火腿 | hamburg: 汉堡 | hammer: 锤子 榔头 | hamster: 仓鼠 | hand_luggage: 随身行李 手提行李 |
handbag: 手提包 包包 | handle: 处理 把手 | handover: 交接 移交 | handwriting: 字迹 书法 手写 |
handyman repairman: 维修工 师傅 维修师傅 修理工 | hang: 悬挂 挂 | hanger: 衣架 | hangover: 宿醉 解酒 | hangzhou: 杭州 |
hanoi: 河内 | happiness: 幸福 快乐 | happy: 开心 高兴 快乐 幸福 | harbor harbour: 港口 码头 |
hard_disk hard_drive: 硬盘 | hard_hat safety_helmet: 安全帽 | hard_working: 勤奋 努力 勤劳 | hardness: 硬度 |
hardware: 硬件 | hardwood wooden_floor: 木地板 实木 | harm: 伤害 危害 损害 | harmful: 有害 | harmless: 无害 |
harmonica: 口琴 | harp: 竖琴 | harvest: 收获 采摘 收割 收成 丰收 | hat: 帽子 | hate: 讨厌 恨 | hawaii: 夏威夷 |
hay_fever: 花粉过敏 花粉症 过敏鼻炎 | hazard: 危险 隐患 | haze smog: 雾霾 | head: 脑袋 头部 标题 头条 |
headache: 头疼 头痛 | header: 页眉 表头 标题 | headhunter recruiter: 猎头 招聘人员 | heading headline: 标题 头条 |
headlight: 车灯 大灯 | headmaster headteacher principal: 校长 | headquarters: 总部 | health: 健康 身体 |
health_insurance medical_insurance: 医保 医疗保险 健康保险 健康险 | healthy: 健康 养生 | hear: 听到 听见 听说 |
hearing_aid: 助听器 | heart: 心脏 爱心 心 | heart_attack: 心脏病 心梗 心肌梗死 | heart_disease: 心脏病 冠心病 |
heart_rate heartbeat: 心率 心跳 | heat: 火候 热 加热 高温 热量 暖气 | heater: 暖气 取暖器 加热器 |
heating: 暖气 供暖 地暖 | heatstroke: 中暑 | heatwave: 热浪 高温 | heaven: 天堂 | heavy: 很重 沉重 沉 重 |
heavy_industry: 重工业 | hectare: 公顷 | hedge: 树篱 绿篱 对冲 | hedgehog: 刺猬 | heel: 脚后跟 脚跟 鞋跟 高跟鞋 |
heels high_heels: 高跟鞋 | helicopter: 直升机 | helium: 氦气 氦 | hell: 地狱 | helmet: 头盔 | helpful: 有帮助 |
helsinki: 赫尔辛基 | hem: 下摆 裤脚 | hemisphere: 半球 | hen: 母鸡 | hepatitis: 肝炎 乙肝 |
herb: 香草 草药 中草药 香料 | herbal: 草药 中草药 香草 | hernia: 疝气 | hero: 英雄 | hesitate: 犹豫 | hibernate: 冬眠 |
hide: 隐藏 隐瞒 藏 躲 | high_chair: 餐椅 儿童餐椅 | high_heat: 大火 旺火 | high_jump: 跳高 | high_school: 中学 |
highlight: 突出 亮点 标出 | hike hiking: 徒步 爬山 远足 | hill: 山 小山 山坡 | hindi: 印地语 | hindu hinduism: 印度教 |
hint: 提示 暗示 | hip: 臀部 髋关节 髋 胯 | hip_hop rap: 说唱 | hippo hippopotamus: 河马 |
hire: 招聘 雇用 聘请 录用 招人 招募 | hiring recruitment: 招聘 招募 校招 | histogram: 直方图 |
historic_site: 古迹 名胜古迹 | history: 历史 | hit: 撞 击中 敲 | hives: 荨麻疹 | hobby: 爱好 兴趣 |
hockey: 曲棍球 冰球 | hokkaido: 北海道 | hold: 拿着 握 抱 举行 | hole: 洞 孔 | hole_punch: 打孔机 |
holiday: 假期 节日 度假 休假 放假 | holland netherlands: 荷兰 | homesick: 想家 思乡 | homestay: 民宿 |
hometown: 老家 家乡 故乡 | homework: 作业 家庭作业 功课 | honest: 诚实 老实 | honesty: 诚实 | honey: 蜂蜜 |
honeymoon: 蜜月 | hong_kong: 香港 | honor honour: 荣誉 荣幸 | hoodie sweatshirt: 卫衣 连帽衫 | hook: 挂钩 钩子 |
hoover vacuum_cleaner: 吸尘器 吸尘 真空 | hope: 希望 盼望 | hopeless: 绝望 没希望 | horizontal: 水平 横向 |
hormone: 激素 荷尔蒙 | horn: 鹿角 喇叭 | hornet: 马蜂 黄蜂 | horoscope star_sign zodiac: 星座 运势 |
horrible scary: 可怕 吓人 恐怖 | horror_film: 恐怖片 | horse: 骑马 马匹 小马 马 |
horse_riding horseback_riding: 骑马 马术 | hose: 水管 软管 | hospital: 医院 住院 |
hospitalisation hospitalised hospitalized: 住院 | host: 主人 托管 主持人 主机 东道主 主办 | hostel: 青旅 旅舍 青年旅舍 |
hosting: 托管 主机 | hot: 热 辣 炎热 烫 | hot_dog: 热狗 | hot_pot hotpot: 火锅 | hot_spring: 温泉 | hot_water: 热水 |
hotel: 酒店 宾馆 旅馆 | hotline: 热线 | house: 房子 房屋 别墅 住宅 住房 家 | house_price: 房价 |
household_registration hukou: 户口 户籍 户口本 | housekeeper nanny: 保姆 阿姨 家政 | housemate: 室友 合租 舍友 |
houseplant: 室内植物 盆栽 绿植 | housewarming: 乔迁 暖房 | housewife: 家庭主妇 全职妈妈 | housing: 住房 房子 |
houston: 休斯顿 休斯敦 | hr human_resources: 人事 人力资源 | hug: 拥抱 抱 | human_rights: 人权 |
humble modest: 谦虚 低调 | humid: 潮湿 受潮 湿度 湿润 湿 闷热 | humidifier: 加湿器 | humidity: 潮湿 湿度 闷热 |
humor humour: 幽默 幽默感 | humorous: 搞笑 幽默 好笑 | hunchback: 驼背 | hungary: 匈牙利 |
hunger hungry: 饿 饥饿 肚子饿 | hurricane: 飓风 | hurry rush: 匆忙 赶紧 着急 赶 | hurt: 疼 受伤 痛 伤害 |
husband: 老公 丈夫 先生 | hybrid: 混动 混合动力 | hydrangea: 绣球花 绣球 | hydrogen: 氢气 氢 |
hydropower: 水电 水力发电 | hygiene: 卫生 清洁 | hypertension: 高血压 血压高 | hypothesis: 假设 假说 |
ibuprofen: 布洛芬 | ice: 冰 冰块 | ice_cream: 冰淇淋 雪糕 冰激凌 | ice_cube: 冰块 | ice_skating: 滑冰 溜冰 |
iceberg: 冰山 | iceland: 冰岛 | icon: 图标 | icu intensive_care: 重症监护 | id_card identity_card: 身份证 |
id_photo: 证件照 | identical: 一模一样 相同 | identify: 识别 确定 辨认 | identity: 身份 | idiom: 成语 习语 |
ignore: 忽略 忽视 不理 | ill sick: 生病 病 不舒服 恶心 | illegal: 违法 非法 | illustration: 插画 插图 |
image: 图片 镜像 照片 图像 画 | image_recognition: 图像识别 | imagination: 想象力 想象 | imagine: 想象 设想 |
imitate mimic: 模仿 | immediate: 立即 马上 | immigrant immigrate: 移民 | immigration: 移民 入境 |
immune_system: 免疫力 免疫系统 免疫 抵抗力 | immunity: 免疫力 免疫 免疫系统 抵抗力 | impact influence: 影响 影响力 |
impatient: 不耐烦 没耐心 | impolite: 粗鲁 没礼貌 无礼 | import: 进口 导入 | importance: 重要性 重要 |
important: 重要 关键 | impossible: 不可能 | impression: 印象 | improve: 改进 改善 提高 提升 |
improvement: 改进 进步 改善 | inbox: 收件箱 邮箱 信箱 | incense: 烧香 | incident: 事件 | include: 包括 包含 含 |
income: 收入 | income_tax: 所得税 个税 | inconvenient: 不方便 麻烦 | increase: 增加 上涨 提高 增长 上升 |
indent indentation: 缩进 | independence independent: 独立 | independent_travel: 自由行 自助游 | index: 索引 指数 目录 |
india: 印度 | indian: 印度人 印度 印第安人 | indicator turn_signal: 转向灯 | indigestion: 消化不良 积食 |
indonesia: 印尼 | indonesian: 印尼语 | indoor inside: 里面 室内 内部 | induction_cooker: 电磁炉 | industrial: 工业 |
industry: 行业 工业 产业 | inequality: 不等式 不平等 | inexpensive: 便宜 廉价 实惠 | infect infection: 感染 |
inference: 推理 推断 | inferiority: 自卑 | infertility: 不孕 不育 不孕不育 | infinite infinity: 无穷 无限 |
inflamed inflammation: 发炎 炎症 | inflation: 通货膨胀 通胀 物价 | influencer: 网红 博主 |
info information: 信息 资料 消息 | inform notify: 通知 告知 | infrared: 红外 红外线 | infusion: 输液 打点滴 吊水 |
ingredient: 食材 材料 配料 原料 成分 | inherit inheritance: 继承 遗产 | injection jab: 打针 注射 | injure: 受伤 伤 |
injury wound: 伤口 受伤 伤 | ink: 墨水 墨 | innocent: 无辜 清白 | input: 输入 | insect: 虫子 昆虫 |
insecticide pesticide: 杀虫剂 农药 | insecure: 没安全感 不自信 | insert: 插入 插 | insomnia: 失眠 睡不着 |
inspect: 检查 检验 视察 检测 | inspection: 检查 检验 检测 | inspiration: 灵感 | install installation: 安装 |
installment instalment: 分期 分期付款 | instant_noodles: 方便面 泡面 | instinct: 本能 直觉 |
instructions: 说明书 说明 指示 | instrument: 仪器 乐器 | insufficient: 不足 不够 | insulation: 隔热 绝缘 保温 |
insulin: 胰岛素 | insurance: 保险 | insure: 投保 保险 | integer: 整数 | integral: 积分 |
integrate integration: 集成 整合 积分 | intelligence: 智力 智商 智能 智慧 | intend: 打算 | intensity: 强度 |
intention: 意图 打算 | interest: 利息 兴趣 有趣 有意思 | interest_rate: 利率 | interesting: 有趣 有意思 |
interface: 接口 界面 | interior_design: 室内设计 装修设计 | intermittent_fasting: 轻断食 间歇断食 |
intern trainee: 实习生 | international: 国际 | international_student: 留学生 | internet: 互联网 网络 因特网 |
internship: 实习 | interpret: 口译 解读 翻译 | interpreter: 翻译 口译 译者 口译员 | interrupt: 打断 中断 |
interview: 面试 采访 访谈 | interview_question: 面试题 面试问题 | interviewer: 面试官 考官 | intonation: 语调 |
introduce: 介绍 | introduction: 介绍 引言 简介 开头 | intuition: 直觉 | invalid: 无效 | invent invention: 发明 |
inventory: 库存 存货 | invest investment: 投资 | investigate investigation: 调查 | investor: 投资者 投资人 |
invisible: 隐形 看不见 | invitation: 邀请 请柬 邀请函 | invitation_letter: 邀请函 邀请信 | invite: 邀请 请柬 请客 约 |
invoice: 发票 | involve: 涉及 参与 | iodine: 碘 | ion: 离子 | iran: 伊朗 | iraq: 伊拉克 | ireland: 爱尔兰 |
iron: 熨斗 铁 补铁 熨烫 熨衣服 烫衣服 | ironing: 熨衣服 烫衣服 | irregular: 不规则 不规律 | irritable: 烦躁 易怒 暴躁 |
irritate: 惹恼 打扰 烦 | islam: 伊斯兰教 | island: 岛 岛屿 海岛 | israel: 以色列 | issue: 问题 议题 |
italian: 意大利语 意大利人 意大利 | italy: 意大利 | itch itchy: 痒 发痒 瘙痒 | item: 物品 项目 条目 |
iteration: 迭代 冲刺 | itinerary: 行程 行程单 路线 | ivf: 试管婴儿 试管 | ivy: 常春藤 | jacket: 夹克 外套 |
jail prison: 监狱 坐牢 | jakarta: 雅加达 | jam: 果酱 堵塞 | japan: 日本 | japanese: 日语 日文 日本人 日本 |
jar: 罐子 罐 瓶子 | jasmine: 茉莉 茉莉花 | jaw: 下巴 下颌 颌骨 | jazz: 爵士 爵士乐 | jealous jealousy: 嫉妒 吃醋 |
jeans: 牛仔裤 | jelly: 果冻 | jellyfish: 水母 海蜇 | jet_lag: 时差 倒时差 | jewellery jewelry: 珠宝 首饰 |
jewish judaism: 犹太 犹太教 | jigsaw puzzle: 拼图 谜题 | job: 工作 职业 职位 岗位 差事 | job_hopping: 跳槽 |
job_hunting: 求职 找工作 | job_offer: 录用通知 聘书 | jog jogging: 慢跑 跑步 | join: 加入 参加 | joint: 关节 |
joke: 笑话 玩笑 开玩笑 | journalist reporter: 记者 | journey: 旅程 旅途 | joy: 快乐 喜悦 | judge: 法官 判断 评判 |
judgement judgment: 判断 判断力 | judo: 柔道 | juice: 果汁 汁 | juicer: 榨汁机 | jujube: 红枣 大枣 枣 | july: 七月 |
jump: 跳跃 跳 | jump_rope skipping_rope: 跳绳 | jumper pullover sweater: 毛衣 套头衫 | june: 六月 |
jungle rainforest: 丛林 雨林 | junior_high middle_school: 初中 中学 | jupiter: 木星 | kale: 羽衣甘蓝 | kanban: 看板 |
kangaroo: 袋鼠 | karaoke: 唱歌 | karma: 报应 业力 | kebab skewer: 烤串 串 | kennel: 狗窝 犬舍 | kenya: 肯尼亚 |
ketchup: 番茄酱 | keto ketogenic: 生酮 | kettle: 水壶 热水壶 烧水壶 电热水壶 | key: 钥匙 密钥 关键 按键 |
key_point: 重点 | keyboard: 键盘 电子琴 | keychain keyring: 钥匙扣 | kick: 踢 | kidney: 肾 肾脏 |
kidney_stone: 肾结石 结石 | kill: 杀死 杀 | kilogram: 公斤 千克 | kilowatt_hour: 度电 千瓦时 | kimchi: 泡菜 辣白菜 |
kindergarten nursery preschool: 幼儿园 托儿所 | kindness: 善意 善良 | kinetic_energy: 动能 | king: 国王 |
kiss: 亲吻 吻 接吻 | kitchen: 厨房 | kitchen_scale: 厨房秤 电子秤 | kite: 风筝 | kitten: 小猫 幼猫 |
kiwi: 猕猴桃 奇异果 | knead: 揉面 揉 | knee: 膝盖 膝关节 | knife: 刀 菜刀 刀子 小刀 | knit: 编织 织 织毛衣 针织 |
knitting: 编织 织毛衣 针织 | knock: 敲 敲门 | know: 知道 认识 | knowledge: 知识 | koala: 考拉 树袋熊 |
koran quran: 古兰经 | korea south_korea: 韩国 | korean: 韩语 韩文 韩国人 韩国 | kuala_lumpur: 吉隆坡 |
kung_fu martial_arts: 武术 功夫 | kunming: 昆明 | kyoto: 京都 | lab laboratory: 实验室 | label: 标签 标注 |
labor_day labour_day: 劳动节 | labrador: 拉布拉多 | lace: 蕾丝 鞋带 | lack: 缺乏 缺少 缺 | lactose: 乳糖 乳糖不耐 |
lactose_intolerance lactose_intolerant: 乳糖不耐 乳糖 | ladder: 梯子 | ladle: 汤勺 长柄勺 | lady: 女士 女人 女性 |
ladybird ladybug: 瓢虫 | lag latency: 延迟 时延 | lake: 湖 湖泊 | lamb mutton: 羊肉 羔羊 羊羔 | lamp: 灯 台灯 灯具 |
landing: 降落 着陆 | landlady: 房东 女房东 | landlord: 房东 | landscape scenery: 风景 景色 |
landslide mudslide: 山体滑坡 泥石流 滑坡 | lane: 车道 小巷 | language: 语言 | language_model: 语言模型 大模型 |
lantern: 灯笼 | lantern_festival: 元宵节 | laos: 老挝 | laptop notebook_computer: 笔记本 电脑 手提电脑 |
las_vegas: 赌城 | lasagna lasagne: 千层面 | laser: 激光 | last_month: 上个月 | last_name surname: 姓 姓氏 |
last_night: 昨晚 | last_week: 上星期 | lathe: 车床 | latin: 拉丁语 拉丁文 拉丁 | latitude: 纬度 | latte: 拿铁 |
laugh: 笑 大笑 | launch: 启动 上线 发布 发射 | laundromat: 洗衣店 洗衣房 衣物 |
laundry: 洗衣服 洗衣店 洗衣 洗衣房 衣物 | laundry_detergent washing_powder: 洗衣粉 洗衣液 | lavender: 薰衣草 |
law: 法律 定律 法 | law_firm: 律所 律师事务 | lawn: 草坪 | lawnmower: 割草机 除草机 | lawsuit: 官司 诉讼 | layer: 图层 |
layoff redundancy: 裁员 下岗 | layout: 布局 户型 排版 格局 | layover stopover: 转机 中转 经停 | laziness lazy: 懒 懒惰 |
lead: 铅 带领 领导 线索 导致 | leader: 领导 组长 领袖 领导人 | leaf leaves: 叶子 树叶 | league: 联赛 联盟 |
leak: 漏水 泄漏 泄露 漏 | lean: 倾斜 靠 | learn: 学习 学会 学 | learning_rate: 学习率 | lease: 租约 租赁 租赁合同 |
leash: 牵引绳 狗绳 | leather: 皮革 真皮 皮 | lecture: 讲座 讲课 | lecturer: 讲师 | leek: 韭葱 大葱 |
leftover: 剩菜 剩余 剩饭 剩下 | leftover_rice: 剩饭 隔夜饭 | leftovers: 剩菜 剩饭 | leg: 腿 双腿 腿部 |
legal: 合法 法律 | legalisation legalization: 认证 | leggings: 打底裤 紧身裤 | lego: 乐高 | leisure: 休闲 闲暇 |
lemon: 柠檬 | lemonade: 柠檬水 | lend: 借给 借出 出借 借 | length: 长度 | lenient: 宽松 宽容 | lens: 镜头 镜片 透镜 |
lentil: 扁豆 小扁豆 | leopard: 豹子 豹 | lesbian: 女同 同性恋 拉拉 | lesson: 课 教训 | letter: 信件 字母 写信 信 |
letterbox: 信箱 邮箱 | lettuce: 生菜 | level: 水平 等级 级别 关卡 | lever: 杠杆 | liar: 骗子 撒谎 说谎 |
library: 图书馆 | lice louse: 虱子 | licence license: 许可证 执照 许可 授权 驾照 | licence_plate license_plate: 车牌 |
lick: 舔 | lid: 盖子 锅盖 盖 | lie: 撒谎 说谎 谎言 躺 | life: 生活 生命 人生 | life_insurance: 寿险 人寿保险 |
lifestyle: 生活方式 | lift: 电梯 举 抬 | light: 灯 灯光 照明 光 轻 浅 | light_year: 光年 | lighter: 打火机 |
lighthouse: 灯塔 | lighting: 灯光 照明 | lightning: 闪电 | lightweight: 轻便 轻 | lily: 百合 | lime: 青柠 石灰 |
limescale: 水垢 水渍 | limit: 限制 极限 上限 限额 有限 限量 | limited: 有限 限量 | line_break newline: 换行 换行符 |
line_chart line_graph: 折线图 | line_spacing: 行距 | linear: 线性 | linen: 亚麻 麻 | link url: 链接 网址 | lion: 狮子 |
lip: 嘴唇 唇 | liquid: 液体 | liquor spirits: 白酒 烈酒 | lisbon: 里斯本 | list: 列表 清单 名单 | listen: 倾听 听力 听 |
listening: 听力 | literature: 文学 | lithium: 锂 | lithium_battery: 锂电池 | litter_box litter_tray: 猫砂盆 |
little_brother younger_brother: 弟弟 | little_sister younger_sister: 妹妹 | live: 生活 居住 直播 住 |
lively: 活泼 热闹 | liver: 肝 肝脏 猪肝 | livestream: 直播 | living_room lounge: 客厅 起居室 | lizard: 蜥蜴 |
load: 加载 负载 载入 | load_balancer load_balancing: 负载均衡 | loading: 加载 载入 | loan: 贷款 借款 |
lobby: 大堂 大厅 | lobster: 龙虾 | local: 当地 本地 | location: 位置 | lock: 锁 门锁 锁定 锁上 | lodging: 住宿 |
log: 日志 记录 | logarithm: 对数 | logic: 逻辑 | logical: 逻辑 合理 | login: 登录 登陆 | logistics: 物流 |
logo: 标志 商标 图标 | logout: 退出 登出 注销 | london: 伦敦 | loneliness lonely: 孤独 寂寞 |
long_distance: 异地恋 异地 长途 | long_jump: 跳远 | long_weekend: 小长假 长周末 | longan: 龙眼 桂圆 | longitude: 经度 |
loo: 厕所 卫生间 洗手间 马桶 | look_forward: 期待 盼望 | loop: 循环 | loose: 宽松 松动 松 | loosen: 松开 放松 |
lorry truck: 卡车 货车 | los_angeles: 洛杉矶 | lose: 丢 失去 丢失 弄丢 输 | lose_weight weight_loss: 减肥 瘦身 减重 |
loss: 损失 亏损 失去 丢失 | lost: 迷路 丢 迷茫 丢失 | lost_property: 失物招领 | lottery: 彩票 抽奖 | lotus: 荷花 莲花 |
lotus_root: 莲藕 藕 | loud: 吵 大声 响 | loudspeaker: 音箱 音响 喇叭 | love: 爱情 喜欢 喜爱 爱 | low_carb: 低碳 生酮 |
low_fat: 低脂 | low_heat: 小火 文火 | lower: 降低 放低 | loyal: 忠诚 | lubricant: 润滑油 润滑剂 | luck: 运气 好运 |
lucky: 幸运 吉利 运气好 | luggage: 行李箱 行李 | luggage_storage: 行李寄存 寄存 | lullaby: 摇篮曲 |
lunar_calendar: 农历 阴历 | lunar_eclipse: 月食 | lunch: 午餐 午饭 中饭 | lung: 肺 肺部 | lunge: 弓步 箭步蹲 |
luxury: 奢侈品 豪华 奢侈 | lychee: 荔枝 | lymph_node: 淋巴结 淋巴 | lyon: 里昂 | lyrics: 歌词 | macau: 澳门 |
machine: 机器 | machine_learning: 机器学习 | machine_tool: 机床 | machinery mechanical: 机械 | madrid: 马德里 |
magazine: 杂志 | magic: 魔术 魔法 | magnesium: 镁 | magnet magnetic: 磁铁 磁性 磁 | magnetic_field: 磁场 |
magpie: 喜鹊 | mahjong: 麻将 | mail: 邮件 信件 邮箱 电子邮件 | mailbox: 信箱 收件箱 邮箱 | mailman postman: 邮递员 |
main_course: 主菜 | maintain: 维护 保养 维修 | maintenance: 维护 维修 保养 | major: 专业 |
majority: 多数 大多数 大部分 | malaysia: 马来西亚 | maldives: 马尔代夫 | male: 男性 雄性 男 | malfunction: 故障 |
mall shopping_center shopping_centre shopping_mall: 商场 购物中心 | malware: 恶意软件 病毒 | mammal: 哺乳动物 |
manage: 管理 设法 | manager: 经理 主管 | manchester: 曼彻斯特 | mandarin: 橘子 普通话 桔子 国语 | mango: 芒果 |
manila: 马尼拉 | manner: 礼貌 礼仪 方式 礼节 | manners: 礼貌 礼仪 礼节 方式 | manual: 说明书 手动 说明 手册 |
manufacture: 制造 生产 制造业 | manufacturer: 厂家 制造商 生产商 厂商 | manufacturing: 制造 制造业 生产 | map: 地图 |
maple: 枫树 枫叶 | marathon: 马拉松 半马 全马 | marble: 大理石 | margin: 边距 页边距 利润率 |
marinade marinate: 腌制 腌料 腌 | mark: 分数 标记 成绩 记号 | market: 市场 菜市场 营销 市场营销 |
marketing: 营销 市场营销 | marriage: 婚姻 结婚 | marriage_certificate: 结婚证 | married: 结婚 已婚 |
marry: 结婚 已婚 嫁 娶 | mars: 火星 | marseille: 马赛 | mash: 捣碎 压泥 | mashed_potato: 土豆泥 | mask: 口罩 面膜 面具 |
mass: 质量 大量 | massage: 按摩 推拿 | master: 硕士 大师 | mat: 垫子 地垫 | match: 比赛 火柴 匹配 竞赛 赛事 搭配 |
material: 材料 材质 素材 资料 | maternity: 孕妇 产假 母婴 | maternity_leave: 产假 | math mathematics maths: 数学 |
matrix: 矩阵 | mattress: 床垫 | mature: 成熟 | maximum: 最大值 上限 | mayo mayonnaise: 蛋黄酱 沙拉酱 | mayor: 市长 |
meadow: 草地 草甸 | meal: 餐 饭 一餐 一顿饭 | measles: 麻疹 | measure: 测量 尺寸 措施 衡量 量 |
measurement: 测量 尺寸 衡量 措施 量 | measuring_cup: 量杯 | meat: 肉 肉类 | meatball: 肉丸 丸子 狮子头 |
mechanic: 修车师傅 机械师 修理工 技工 力学 | mechanics: 力学 | medal: 奖牌 金牌 | media: 媒体 | median: 中位数 |
medical_exam: 体检 健康检查 | medical_history: 病史 | medical_record: 病历 病历本 | medication: 药 药物 吃药 |
medicine: 药 医学 药物 吃药 | meditate meditation mindfulness: 冥想 正念 打坐 | medium: 中等 | medium_heat: 中火 |
meet: 见面 遇到 碰面 会面 会议 例会 | meeting: 会议 例会 | meeting_minutes: 会议记录 会议纪要 | melatonin: 褪黑素 |
melbourne: 墨尔本 | melody tune: 旋律 曲调 | melon: 甜瓜 瓜 | melt: 融化 熔化 化 | melting: 融化 熔化 |
melting_point: 熔点 | member: 会员 成员 | membership: 会员 会员资格 成员 会籍 | membership_card: 会员卡 | memo: 备忘录 |
memorise memorize: 记住 背诵 背 | memory: 回忆 记忆 内存 记忆力 | memory_card: 内存卡 存储卡 |
memory_leak: 内存泄漏 内存泄露 | menopause: 更年期 绝经 | menstrual_cramps period_pain: 痛经 |
menstruation: 月经 例假 大姨妈 生理期 | mental_health: 心理健康 精神健康 | mention: 提到 提及 提过 | menu: 菜单 |
meow: 喵 喵喵叫 | merchandise: 商品 货物 | mercury: 水银 水星 汞 | merge: 合并 | merger: 合并 并购 | mesh: 网 网格 |
mess: 杂乱 混乱 凌乱 乱 | message: 消息 信息 留言 短信 | messy: 杂乱 凌乱 乱 | metabolism: 代谢 新陈代谢 | metal: 金属 |
metaphor: 比喻 隐喻 | meteor meteor_shower shooting_star: 流星 流星雨 | meteorite: 陨石 | method: 方法 办法 方式 |
metro subway underground: 地铁 | metronome: 节拍器 | mexican: 墨西哥人 墨西哥 | mexico: 墨西哥 | mexico_city: 墨西哥城 |
miami: 迈阿密 | mic microphone: 麦克风 话筒 | microbe microorganism: 微生物 | microplastic: 微塑料 |
microscope: 显微镜 | microservice: 微服务 | microwave: 微波炉 | midday: 中午 正午 | middle_east: 中东 |
midlife_crisis: 中年危机 | midterm: 期中考试 期中 | midwife: 助产士 | migraine: 偏头痛 | migrate migration: 迁移 移民 |
milan: 米兰 | mild: 温和 轻微 清淡 | milestone: 里程碑 节点 | military: 军事 军队 | milk: 牛奶 奶 |
milliliter millilitre ml: 毫升 | millimeter millimetre: 毫米 | mind: 头脑 介意 心思 | mind_map: 思维导图 |
mineral: 矿物 矿物质 | mineral_water: 矿泉水 | mini_program: 小程序 | minimum: 最小值 | mining: 采矿 挖矿 |
minister: 部长 | minor: 辅修 未成年 | minority: 少数 少数民族 | mint: 薄荷 | minus: 减去 减 | miracle: 奇迹 |
mirror: 镜子 镜像 | miscarriage: 流产 小产 | miss: 想念 错过 漏掉 思念 | missed_call: 未接来电 |
mistake: 错误 失误 出错 差错 | misunderstand misunderstanding: 误会 误解 | mite: 螨虫 | mix: 混合 搅拌 拌匀 混 |
mixer: 搅拌器 打蛋器 厨师机 | mixture: 混合物 混合 | mobile_game: 手游 | mobile_payment: 移动支付 手机支付 |
mock_exam: 模拟考试 模考 | mode: 模式 众数 | model: 型号 模型 模特 | modern: 现代 现代化 | modify: 修改 改动 |
module: 模块 | moist: 潮湿 湿润 | mold mould: 模具 发霉 霉菌 霉 | mole: 痣 鼹鼠 | molecule: 分子 |
mom mommy mother mum mummy: 妈妈 母亲 妈 老妈 | momentum: 动量 势头 | monday: 星期一 礼拜一 | money: 金钱 资金 |
mongolia: 蒙古 蒙古国 | monitor: 显示器 屏幕 监控 监测 | monitoring: 监控 监测 | monk: 和尚 僧人 | monkey: 猴子 猴 |
monstera: 龟背竹 | montreal: 蒙特利尔 | monument: 纪念碑 | mood: 心情 情绪 | moon: 月亮 月球 | mooncake: 月饼 |
mop: 拖把 拖地 | morning_sickness: 孕吐 | morocco: 摩洛哥 | mortgage: 房贷 按揭 抵押 | moscow: 莫斯科 | mosque: 清真寺 |
mosquito: 蚊子 | mosquito_net: 蚊帐 | moss: 苔藓 青苔 | moth: 飞蛾 蛾子 | mother_tongue native_language: 母语 |
motherboard: 主板 | mothers_day: 母亲节 | motivate: 激励 动力 积极性 | motivated: 动力 积极性 |
motivation: 动力 积极性 动机 | motor: 电机 马达 | motorbike motorcycle: 摩托车 摩托 | mountain: 山 大山 |
mountaineering: 登山 爬山 攀岩 | mouse: 老鼠 鼠标 | moustache mustache: 胡子 小胡子 | mouth: 嘴 嘴巴 口腔 |
mouth_ulcer: 口腔溃疡 | move_house relocate: 搬家 搬 | mover movers moving_company removal_company: 搬家公司 |
mow: 割草 修剪草坪 | mri: 核磁 核磁共振 磁共振 | msg: 味精 鸡精 | mud: 泥巴 泥 | mug: 马克杯 杯子 |
muggy stuffy: 闷热 闷 | multiple_choice: 选择题 | multiplication multiply: 乘法 乘 | mumbai: 孟买 | mung_bean: 绿豆 |
munich: 慕尼黑 | murder: 谋杀 凶杀 | muscle: 肌肉 肌 | museum: 博物馆 | mushroom: 蘑菇 香菇 菌菇 | music: 音乐 |
music_festival: 音乐节 | musical: 音乐剧 | musical_instrument: 乐器 | musician: 音乐家 乐手 | muslim: 穆斯林 |
mussel: 青口 贻贝 | mustard: 芥末 芥末酱 | mutation: 突变 变异 | mute: 静音 | muzzle: 嘴套 口套 | myanmar: 缅甸 |
myopia nearsighted short_sighted: 近视 近视眼 | mysterious: 神秘 | nail: 钉子 指甲 美甲 | naive: 天真 单纯 |
nanjing: 南京 | nanometer nanometre: 纳米 | nanotechnology: 纳米技术 纳米 | nap: 午睡 小睡 午觉 打盹 |
napkin: 餐巾纸 纸巾 餐巾 | narrow: 窄 狭窄 | national: 国家 全国 | national_day: 国庆节 国庆 |
national_park: 国家公园 公园 | native_speaker: 母语者 母语人士 | natural: 自然 天然 | natural_gas: 天然气 |
natural_selection: 自然选择 | nature: 自然 大自然 本性 | naughty: 调皮 淘气 | nausea nauseous: 恶心 想吐 反胃 |
navigation: 导航 | navy: 深蓝色 藏青色 海军 | nearby: 附近 旁边 靠近 周边 近 | neat: 整齐 整洁 | neck: 脖子 颈椎 颈部 |
necklace: 项链 | needle: 针 | negative: 消极 负数 负面 阴性 负 | negotiate: 谈判 协商 商量 | negotiation: 谈判 协商 |
neighbor neighbour: 邻居 | neighborhood neighbourhood: 社区 小区 附近 街区 | nepal: 尼泊尔 | nephew: 侄子 外甥 |
nerve: 神经 | nervous: 紧张 忐忑 | nest: 鸟巢 鸟窝 窝 巢 | net: 网 | network: 网络 | neural_network: 神经网络 |
neuron: 神经元 | neuter spay sterilize: 绝育 | neutron: 中子 | new_year: 元旦 新年 | new_york: 纽约 |
new_zealand: 新西兰 | newborn: 新生儿 新生宝宝 刚出生 | news: 新闻 消息 | newspaper: 报纸 | next_month: 下个月 |
next_week: 下星期 | next_year: 明年 | nickname: 小名 昵称 外号 | niece: 侄女 外甥女 | nigeria: 尼日利亚 |
night_market: 夜市 | night_shift: 夜班 晚班 | nightclub: 夜店 夜总会 | nightmare: 噩梦 恶梦 | nitrogen: 氮气 氮 |
node: 节点 | noise: 噪音 吵 噪声 声音 吵闹 | noisy: 噪音 吵 吵闹 嘈杂 | noodle noodles: 面条 面 |
normal_distribution: 正态分布 | north: 北方 北边 北部 北 | north_america: 北美 北美洲 | north_korea: 朝鲜 北韩 |
northeast: 东北 | northwest: 西北 | norway: 挪威 | nose: 鼻子 鼻 | nosebleed: 流鼻血 鼻血 |
notarize notary: 公证 公证处 | note: 笔记 便条 备注 记下 | notebook: 笔记本 本子 | notice: 通知 注意到 公告 发现 |
notification: 通知 提醒 消息 | noun: 名词 | november: 十一月 | nuclear: 核能 | nuclear_power: 核电 核能 |
nucleus: 原子核 细胞核 | null: 空值 | numb numbness: 发麻 麻木 | nun: 尼姑 修女 | nurse: 护士 | nut: 坚果 螺母 |
nutrition: 营养 | nylon: 尼龙 | oak: 橡树 橡木 | oat_milk: 燕麦奶 | oatmeal oats: 燕麦 燕麦片 麦片 | obedient: 听话 乖 |
obese obesity: 肥胖 肥胖症 | object: 物体 东西 反对 对象 物品 | objective: 目标 客观 | observation observe: 观察 观测 |
observatory: 天文台 | obvious: 明显 显然 | occasion: 场合 | occupation profession: 工作 职业 行业 | occur: 发生 |
ocean: 大海 海洋 | ocr text_recognition: 文字识别 | october: 十月 | octopus: 章鱼 | odd strange weird: 奇怪 古怪 怪 |
odd_number: 奇数 | odor odour: 气味 味道 异味 臭味 | offer: 录取 提供 录用 优惠 报价 | office: 办公室 写字楼 办事处 |
office_building: 写字楼 办公楼 | office_politics: 勾心斗角 人际关系 | official: 官员 官方 正式 | offline: 离线 线下 |
oil: 食用油 石油 机油 油 | oil_painting: 油画 | ointment: 药膏 软膏 | okinawa: 冲绳 | okra: 秋葵 |
old_fashioned outdated: 老式 老土 | old_town: 古城 老城 古镇 | olive: 橄榄 | olive_oil: 橄榄油 |
olympic_games olympics: 奥运会 奥运 | omelet omelette: 煎蛋卷 欧姆蛋 蛋卷 | onion: 洋葱 | online: 在线 网上 线上 |
online_course: 网课 在线课程 | online_shop: 网店 | online_shopping: 网购 网上购物 | open: 打开 开放 营业 |
open_source: 开源 | opening_sentence: 开头 | opera: 歌剧 戏曲 | operate: 操作 运营 | operating_system: 操作系统 系统 |
operation: 手术 操作 开刀 外科 运营 | ophthalmologist optician: 眼科 眼科医生 眼镜店 | opinion: 意见 看法 观点 |
oppose: 反对 | opposite: 对面 相反 反义词 | optical optics: 光学 | optimisation optimise optimization optimize: 优化 |
optimist optimistic: 乐观 | option: 选项 选择 | orange: 橙子 橙色 橘子 | orbit: 轨道 | orchestra: 乐团 管弦乐团 |
orchid: 兰花 蝴蝶兰 | ordinary: 普通 平凡 | ore: 矿石 | organic: 有机 | organise organize: 整理 组织 安排 |
organism: 生物 有机体 | origami: 折纸 | original: 原来 原版 原创 正版 | ornament: 装饰品 摆件 | orphan: 孤儿 |
orthopaedics orthopedics: 骨科 | osaka: 大阪 | oslo: 奥斯陆 | osteoporosis: 骨质疏松 | ostrich: 鸵鸟 | otter: 水獭 |
ounce: 盎司 | outdoor: 户外 室外 外面 | outer_space: 太空 宇宙 外太空 | outfit: 穿搭 搭配 套装 |
outlet socket: 插座 套接字 | outlier: 异常值 离群值 | outline: 大纲 提纲 | output: 输出 产量 | output_value: 产值 |
outside: 外面 户外 室外 | outsource outsourcing: 外包 | oval: 椭圆 椭圆形 | ovary: 卵巢 | oven: 烤箱 |
overcoat: 大衣 外套 | overcooked: 煮老 煮烂 过熟 | overdue: 逾期 过期 | overfit overfitting: 过拟合 |
overheat overheating: 过热 发烫 | overlap: 重叠 | oversleep: 睡过头 起晚 | overtake: 超车 | overtime: 加班 加班费 |
overweight: 超重 肥胖 胖 | owe: 欠 欠钱 | owl: 猫头鹰 | owner: 主人 业主 所有者 | oxford: 牛津 |
oxidation oxidise oxidize: 氧化 | oxygen: 氧气 氧 | oyster: 生蚝 牡蛎 | oyster_sauce: 蚝油 | ozone: 臭氧 |
pack: 打包 收拾 包装 | package: 包裹 快递 软件包 套餐 包装 | packaging: 包装 | padlock: 挂锁 锁 |
paediatrician paediatrics pediatrician pediatrics: 儿科 儿科医生 | page: 页面 网页 页 | pain: 疼 痛 疼痛 |
painkiller: 止痛药 止疼药 | paint: 油漆 画 涂料 颜料 刷漆 绘画 | painter: 画家 油漆工 | painting: 画 绘画 刷漆 油画 |
pair: 一双 双 | pajamas pyjamas: 睡衣 | pakistan: 巴基斯坦 | palace: 宫殿 皇宫 故宫 | pale: 苍白 浅色 | pallet: 托盘 |
palm: 手掌 手心 棕榈 | pancake: 煎饼 薄饼 松饼 | panda: 熊猫 大熊猫 | panic_attack: 恐慌 惊恐 惊恐发作 |
pantry: 食品柜 储藏室 | pants trousers: 裤子 长裤 | papaya: 木瓜 | paper: 纸 论文 试卷 | paper_clip: 回形针 |
paper_cutting: 剪纸 | paper_towel: 厨房纸 纸巾 | paperwork: 手续 文件 文书 | paragliding: 滑翔伞 | paragraph: 段落 段 |
parallel: 平行 | parallel_line: 平行线 | paralympics: 残奥会 | parameter: 参数 | paraphrase: 改写 转述 |
parasite: 寄生虫 | parcel: 包裹 快递 套餐 | parcel_locker: 快递柜 | parent: 父母 家长 爸妈 育儿 养育 带娃 |
parenting: 育儿 养育 带娃 | parents: 父母 家长 爸妈 | parents_meeting: 家长会 | paris: 巴黎 | park: 公园 停车 |
parking: 停车 | parking_space: 车位 停车位 | parkinsons: 帕金森 | parrot: 鹦鹉 | parsley: 欧芹 荷兰芹 |
part_time: 兼职 | participate: 参加 参与 | particle: 粒子 颗粒 | partner: 伴侣 合作伙伴 伙伴 对象 合伙人 另一半 |
partnership: 合伙 合作关系 | party: 派对 政党 聚会 党 | pass: 及格 通过 | passcode password: 密码 口令 |
passenger: 乘客 旅客 | passion: 热情 激情 | passive: 被动 | passive_income: 被动收入 | passport: 护照 |
pasta spaghetti: 意大利面 意面 | paste: 粘贴 | pastor: 牧师 | patch: 补丁 | patent: 专利 | paternity_leave: 陪产假 |
path: 路径 小路 | patience: 耐心 | patient: 病人 耐心 患者 | patio terrace: 露台 平台 天井 |
pattern: 图案 花纹 模式 规律 | pause: 暂停 | pavement sidewalk: 人行道 | paw: 爪子 | pay_attention: 注意 留意 |
pay_rise: 加薪 涨薪 涨工资 调薪 | payslip: 工资单 工资条 | pea: 豌豆 | peace: 和平 平静 | peach: 桃子 水蜜桃 |
peacock: 孔雀 | peak summit: 山顶 山峰 顶峰 | peanut: 花生 | peanut_butter: 花生酱 | pear: 梨 梨子 | pedestrian: 行人 |
pee: 尿尿 尿 小便 尿液 | peel: 削皮 去皮 剥 剥皮 果皮 | peeler: 削皮刀 刨刀 | pen: 笔 钢笔 圆珠笔 |
penalty: 违约金 罚款 处罚 | pencil: 铅笔 | penguin: 企鹅 | peninsula: 半岛 | pension: 退休金 养老金 | peony: 牡丹 芍药 |
pepper: 胡椒 辣椒 胡椒粉 | peppercorn sichuan_pepper: 花椒 | percentage: 百分比 比例 百分点 | perfect: 完美 |
perfectionism perfectionist: 完美主义 | perform: 表演 执行 演出 | performance: 绩效 表现 表演 性能 演出 业绩 |
period: 月经 时期 例假 阶段 大姨妈 生理期 | periodic_table: 周期表 | permanent: 永久 长期 | permission: 许可 权限 允许 |
permit: 许可证 允许 执照 准许 许可 | permutation: 排列 | persevere persist: 坚持 | persimmon: 柿子 |
persistence: 坚持 毅力 | personal: 私人 | personal_finance: 理财 个人理财 | personal_statement: 个人陈述 文书 |
personal_trainer: 私教 教练 健身教练 | personality: 性格 个性 人格 | perspective: 观点 角度 视角 |
perspire sweat: 出汗 汗 流汗 | persuasive: 有说服力 说服力 | peru: 秘鲁 | pessimist pessimistic: 悲观 |
pest: 害虫 虫害 | pet: 宠物 | pet_food: 宠物食品 猫粮 狗粮 | pet_shop: 宠物店 | petroleum: 石油 |
pharmacist: 药剂师 药师 | phase: 阶段 | philippines: 菲律宾 | philosophy: 哲学 | phishing: 钓鱼 诈骗 | phlegm: 痰 |
phobia: 恐惧症 | phone telephone: 电话 手机 | phone_call: 电话 通话 | phone_case: 手机壳 |
phone_number: 电话号码 手机号 电话 | phosphorus: 磷 | photo photograph: 照片 图片 相片 | photo_album: 相册 影集 |
photo_editing: 修图 | photocopy: 复印 复制 复印件 副本 | photographer: 摄影师 | photography: 摄影 拍照 |
photosynthesis: 光合作用 | photovoltaic: 光伏 | phrase: 短语 词组 | phuket: 普吉岛 普吉 |
physical_education: 体育 体育课 | physical_therapy physiotherapist physiotherapy: 理疗 物理治疗 康复 |
physicist: 物理学家 | physics: 物理 物理学 | piano: 钢琴 | piano_lesson: 钢琴课 | pickle pickles: 泡菜 咸菜 腌黄瓜 |
picnic: 野餐 | picture: 照片 图片 相片 画 | picture_book: 绘本 图画书 | pie: 馅饼 派 | pie_chart: 饼图 | piece: 片 |
pig: 猪 | piggy_bank: 存钱罐 | pilates: 普拉提 | pill: 药片 药丸 药 | pillow: 枕头 | pilot: 飞行员 机长 |
pin: 别针 大头针 密码 | pin_code: 密码 | pinch: 少许 一撮 捏 | pine: 松树 松木 | pineapple: 菠萝 凤梨 |
ping_pong table_tennis: 乒乓球 | pink: 粉色 粉红色 粉红 | pinyin: 拼音 | pipa: 琵琶 | pipe: 管道 水管 管子 |
pivot_table: 透视表 | pixel: 像素 | pizza: 披萨 比萨 | plagiarism: 抄袭 剽窃 查重 | plaid: 格子 | plain: 平原 |
plan: 计划 方案 打算 规划 | planet: 行星 星球 | plank: 平板支撑 | plant: 植物 种植 工厂 |
plaster: 石膏 创可贴 腻子 抹灰 | plastic: 塑料 | plastic_bag: 塑料袋 | plate: 盘子 碟子 | plateau: 高原 |
platform: 站台 平台 | play: 话剧 播放 演奏 玩 | player: 球员 玩家 选手 | playground: 游乐场 操场 |
playing_cards poker: 扑克 扑克牌 打牌 | playlist: 歌单 播放列表 | pleased: 高兴 开心 | pliers: 钳子 | plot: 情节 剧情 |
plug: 插头 塞子 插上 插 | plum: 李子 梅子 | plumber: 水管工 管道工 | plumbing: 水管 管道 水电 | plural: 复数 |
plus: 加上 | plush: 毛绒玩具 毛绒 | plush_toy stuffed_animal: 毛绒玩具 玩偶 公仔 | plywood: 胶合板 多层板 |
pneumonia: 肺炎 | pocket: 口袋 兜 | pocket_money: 零花钱 零用钱 | podcast: 播客 | poem poetry: 诗 诗歌 | poet: 诗人 |
pointer: 指针 | poison: 中毒 毒 毒药 有毒 毒性 | poisoning: 中毒 毒 毒药 | poisonous: 有毒 毒 | poland: 波兰 |
polar_bear: 北极熊 | police: 警察 民警 公安 警方 | police_car: 警车 | police_officer policeman: 警察 民警 警官 警方 |
police_station: 派出所 警察局 公安局 | policy: 政策 保单 | polish: 润色 波兰语 抛光 波兰人 擦亮 |
polite: 礼貌 有礼貌 客气 | political politics: 政治 | politician: 政治家 政客 | pollute pollution: 污染 |
polyester: 涤纶 聚酯 | pomegranate: 石榴 | pomelo: 柚子 | pond: 池塘 鱼塘 | pony: 马 | poo poop: 便便 大便 拉屎 粪便 |
poodle: 贵宾犬 泰迪 | pool swimming_pool: 游泳池 泳池 | poor: 穷 贫穷 贫困 差劲 差 | pop_music: 流行音乐 |
popcorn: 爆米花 | pope: 教皇 | popular: 受欢迎 流行 热门 | population: 人口 总体 | popup: 弹窗 | porcelain: 陶瓷 瓷器 |
pork: 猪肉 | pork_belly: 五花肉 | port: 港口 端口 码头 接口 | portion: 人份 分量 份量 | portrait: 人像 肖像 |
portugal: 葡萄牙 | portuguese: 葡萄牙语 葡语 | position: 职位 位置 岗位 | positive: 积极 正数 正面 阳性 |
possibility: 可能性 | post: 帖子 发帖 邮寄 岗位 | post_office: 邮局 | postage: 邮费 运费 邮资 | postcard: 明信片 |
postcode zip_code: 邮编 邮政编码 | poster: 海报 | postgraduate: 研究生 | postmortem retrospective: 复盘 回顾 |
postnatal_depression postpartum_depression: 产后抑郁 | postpartum: 产后 坐月子 月子 |
postpone: 推迟 延期 延误 延迟 改期 | posture: 姿势 体态 | pot saucepan: 锅 汤锅 花盆 | potassium: 钾 |
potato: 土豆 马铃薯 | potential: 潜力 潜在 | potential_energy: 势能 | pothos: 绿萝 |
potty potty_training: 如厕训练 小马桶 | pour: 倒入 浇 倒 | poverty: 贫困 贫穷 | powder: 粉 粉末 |
power: 电力 功率 电源 权力 电 | power_bank: 充电宝 移动电源 | power_grid: 电网 |
power_plant power_station: 发电厂 电站 电厂 | power_strip: 插线板 插排 接线板 | powerful: 强大 有力 |
practical: 实用 实际 | practice practise: 练习 实践 训练 | prague: 布拉格 | praise: 表扬 称赞 夸 |
pram pushchair stroller: 婴儿车 推车 | prawn shrimp: 虾 虾仁 大虾 | pray prayer: 祈祷 祷告 |
precaution: 预防措施 注意事项 | precious valuable: 珍贵 贵重 宝贵 | precision: 精度 精确率 精确 |
predict: 预测 预言 预报 预计 | prediction: 预测 预言 | prefabricated: 预制 | prefer: 更喜欢 偏好 宁愿 |
preference: 偏好 喜好 | pregnancy: 怀孕 孕妇 孕期 妊娠 | pregnant: 怀孕 孕妇 孕期 | preheat: 预热 | premium: 保费 高级 |
preparation: 准备 | prepare: 准备 筹备 | prepay prepayment: 预付 预付款 | preposition: 介词 | prescribe: 开药 处方 |
prescription: 处方 药方 处方药 | presentation: 演示 演讲 幻灯片 展示 报告 汇报 | preservation preserve: 保存 保鲜 防腐 |
president: 总统 董事长 主席 总裁 | press: 媒体 按下 新闻界 按 压 | press_conference: 发布会 记者会 |
press_release: 新闻稿 | pressure: 压力 压强 气压 | pressure_cooker: 高压锅 压力锅 | pretend: 假装 |
prevent: 防止 预防 避免 | preview: 预习 预览 | previous: 上一个 | price_cut: 降价 | price_increase: 涨价 |
pricey: 贵 昂贵 | pride: 骄傲 自尊 | priest: 神父 牧师 | primary_key: 主键 | prime_minister: 总理 首相 |
prime_number: 质数 素数 | principle: 原理 原则 | print: 打印 印刷 | printer: 打印机 |
prioritise prioritize: 优先级 优先 | priority: 优先 优先级 重点 | privacy: 隐私 | private: 私人 隐私 |
private_room: 包间 包厢 | probability: 概率 可能性 | probation: 试用期 缓刑 | probiotic: 益生菌 |
procedure: 手续 过程 程序 流程 | process: 流程 过程 进程 处理 程序 手续 | process_engineering: 工艺 |
procrastinate procrastination: 拖延 拖延症 | procurement purchasing: 采购 | produce: 生产 制作 制造 产生 |
producer: 生产商 制片人 | product: 产品 商品 | product_manager: 产品经理 | production: 生产 制作 生产环境 线上 |
productivity: 效率 生产力 生产率 | professional: 专业 职业 | professor: 教授 | profile: 个人资料 资料 简介 |
profit: 利润 盈利 | program: 程序 项目 节目 | programme: 程序 项目 节目 编程 写代码 | progress: 进展 进步 进度 |
project: 项目 工程 | project_management: 项目管理 | project_manager: 项目经理 | projector: 投影仪 |
promise: 承诺 答应 保证 | promote: 晋升 提拔 推广 促销 | promotion: 促销 晋升 升职 | prompt: 提示 提示词 |
pronoun: 代词 | pronounce: 发音 念 | pronunciation: 发音 读音 | proof prove: 证明 证据 | proofread: 校对 |
propagate: 繁殖 扦插 | property: 财产 房产 | property_management: 物业 物业费 | proportion ratio: 比例 比率 |
proposal: 求婚 提案 提议 方案 建议书 | propose: 求婚 提出 提议 建议 | prostate: 前列腺 | protagonist: 主角 主人公 |
protect protection: 保护 防护 | protein: 蛋白质 蛋白 | protein_powder: 蛋白粉 | protest: 抗议 示威 | protocol: 协议 |
proton: 质子 | prototype: 原型 样机 | proud: 骄傲 自豪 | proverb: 谚语 俗语 | provide: 提供 供应 | province: 省份 省 |
provoke: 挑衅 激怒 | proxy: 代理 | prune: 修剪 剪枝 | psoriasis: 银屑病 牛皮癣 | psychiatrist: 精神科 心理医生 |
psychologist: 心理医生 心理师 心理学家 | psychology: 心理学 心理 | public: 公共 公众 公开 | public_opinion: 舆论 民意 |
public_toilet: 厕所 洗手间 公厕 | public_transport: 公共交通 公交 | publicity: 宣传 推广 | publish: 出版 发表 发布 |
publisher: 出版社 | pudding: 布丁 | pull: 拉取 拉 拽 | pull_request: 合并请求 | pulse: 脉搏 心跳 |
pump: 水泵 打气筒 泵 | pumpkin: 南瓜 | punctual: 准时 守时 | punctuation: 标点 标点符号 | punish punishment: 惩罚 处罚 |
pupil: 小学生 学生 | puppy: 小狗 幼犬 狗狗 | purchase: 买 购买 采购 购入 | pure: 纯 纯净 | puree: 果泥 泥 |
purple violet: 紫色 紫 | purpose: 用途 | purse: 手提包 钱包 包包 钱夹 | push: 推送 推 | qigong: 气功 八段锦 |
qingdao: 青岛 | qingming: 清明 清明节 | qixi: 七夕 | qr_code: 二维码 扫码 | qualification: 资格 学历 资质 |
quality: 质量 品质 | quality_assurance: 质量保证 | quality_control quality_inspection: 质检 品控 质量控制 |
quantity: 数量 金额 量 | quantum: 量子 | quarantine: 隔离 | quarrel: 吵架 争吵 争论 | queen: 女王 王后 | query: 查询 |
questionnaire: 问卷 调查 调查问卷 | queue: 排队 队列 队伍 | quiet: 安静 文静 静 | quit: 辞职 放弃 离职 退出 戒 |
quit_smoking: 戒烟 | quiz: 测验 小测 竞猜 | quotation quote: 报价 引用 报价单 名言 | quotation_mark: 引号 |
rabies: 狂犬病 | raccoon: 浣熊 | racing: 赛车 竞速 | racism: 种族歧视 种族主义 | rack: 架子 |
racket racquet: 球拍 拍子 | radiation: 辐射 | radiator: 暖气片 散热器 | radio: 收音机 广播 电台 | radioactive: 放射性 |
radiotherapy: 放疗 | radish: 萝卜 白萝卜 | radius: 半径 | rag: 抹布 布 | railroad railway: 铁路 |
railway_station: 火车站 车站 | rain: 雨 下雨 | rainbow: 彩虹 | raincoat: 雨衣 | rainy: 下雨 雨天 |
rainy_season: 雨季 梅雨 | raise: 加薪 提高 抚养 举起 | raisin: 葡萄干 | rake: 耙子 | ramadan: 斋月 | random: 随机 |
range: 范围 续航 | rank: 排名 排列 排行榜 | ranking: 排名 排行榜 | rare: 罕见 稀有 少见 | rare_earth: 稀土 |
rarely seldom: 不常 | rash: 皮疹 疹子 红疹 | raspberry: 树莓 覆盆子 | rat: 老鼠 大鼠 鼠标 |
rate: 比率 评分 速度 汇率 利率 评级 | rating: 评分 评级 | rattan wicker: 藤编 藤 | raw: 生吃 原始 生 |
raw_material: 原材料 原料 | razor shaver: 剃须刀 刮胡刀 | react reaction: 反应 | reader: 读者 |
real_estate: 房地产 房产 | reality: 现实 | rear: 后面 背面 背 | reasonable: 合理 | reboot restart: 重启 重新启动 |
recall: 召回率 回忆 召回 | receipt: 收据 小票 发票 | receive: 收到 接收 | receptionist: 前台 接待员 |
recession: 衰退 经济衰退 | recharge: 充电 充值 | recipe: 食谱 菜谱 做法 配方 | recipient: 收件人 | recite: 背诵 朗诵 |
recognise recognize: 认出 识别 认识 | recommend recommendation: 推荐 建议 | recommendation_letter: 推荐信 |
record: 记录 录音 录制 唱片 | recorder: 竖笛 录音机 | recover: 恢复 康复 还原 痊愈 找回 | recovery: 恢复 康复 痊愈 |
recruit: 招聘 雇用 录用 招人 | rectangle: 长方形 矩形 | recursion recursive: 递归 | recycle recycling: 回收 循环利用 |
recycle_bin: 回收站 垃圾桶 | red: 红色 红 | red_bean: 红豆 | red_envelope: 红包 | red_panda: 小熊猫 |
red_wine: 红酒 红葡萄酒 | redirect: 跳转 重定向 | refactor refactoring: 重构 | refer: 参考 | referee: 裁判 |
reference: 参考 推荐人 推荐信 参考文献 | referendum: 公投 | refine refinery: 炼油厂 提炼 精炼 |
reflect reflection: 反射 反思 | reform: 改革 | refraction: 折射 | refresh: 刷新 | refugee: 难民 | refund: 退款 退钱 |
refurbish renovate renovation: 装修 翻新 改造 | refuse: 拒绝 回绝 | regex regular_expression: 正则式 |
region: 地区 区域 面积 | register registration: 注册 登记 报名 | registered_mail: 挂号信 | regression: 回归 |
regret: 后悔 遗憾 | regular: 定期 规律 普通 | regulation: 规定 法规 条例 | rehab rehabilitation: 康复 复健 |
rehearsal: 排练 彩排 | reheat: 加热 热一下 复热 | reimburse reimbursement: 报销 | reindeer: 驯鹿 |
reject: 拒绝 驳回 回绝 | relate: 联系 相关 有关 | related relevant: 相关 有关 | relationship: 关系 感情 恋爱 |
relative: 亲戚 亲属 | relativity: 相对论 | relax: 放松 休息 休闲 轻松 | release: 发布 释放 版本 | reliable: 靠谱 可靠 |
religion: 宗教 信仰 | religious: 宗教 信教 | rely: 依靠 依赖 | remain stay: 留 保持 剩下 住 |
remainder: 余数 剩余 剩下 剩菜 | remarry: 再婚 | remember: 记得 记住 | remind: 提醒 | reminder: 提醒 备忘 |
remittance: 汇款 | remote: 远程 偏远 遥控器 | remote_control: 遥控器 遥控 | remove: 移除 去除 删除 去掉 拆 |
rename: 重命名 改名 | render rendering: 渲染 效果图 | renew: 续签 续期 续费 续订 | renewable_energy: 可再生 新能源 |
renewal: 续签 续期 续费 | rent: 房租 租 租金 租房 | rental: 租赁 出租 | repair_shop: 修理厂 维修店 |
repay repayment: 还款 偿还 | repeat: 重复 反复 | rephrase rewrite: 改写 重写 | replace: 更换 替换 代替 取代 换 |
replenish restock: 补货 | replica replication: 副本 复制 主从 | reply: 回复 回答 答复 回应 |
repo repository: 仓库 代码库 | report: 报告 汇报 举报 报道 报表 | repot: 换盆 移盆 | represent: 代表 表示 |
reptile: 爬行动物 | reputation: 名声 声誉 口碑 | request: 请求 要求 申请 | requirement: 要求 需求 条件 |
reschedule: 改期 改时间 | rescue: 救援 抢救 救 | research: 研究 科研 调查 调研 | researcher: 研究员 研究者 研究人员 |
reserve: 预订 预约 预留 | residence_permit: 居留许可 居留证 居住证 | resign: 辞职 离职 退出 |
resignation: 辞职 离职 辞呈 | resignation_letter: 辞职信 辞呈 | resin: 树脂 | resistance resistor: 电阻 阻力 抵抗 |
resolution: 分辨率 决议 | resort: 度假村 | resource: 资源 | respect: 尊重 尊敬 | respond: 回复 回答 回应 答复 |
response: 回复 响应 回应 反应 | responsibility: 责任 职责 义务 | responsible: 负责 责任心 责任 | rest: 休息 剩下 歇 |
restaurant: 餐厅 饭店 餐馆 饭馆 | restore: 恢复 还原 找回 | restriction: 限制 | restroom: 厕所 卫生间 洗手间 公厕 马桶 |
result: 结果 成绩 | retail: 零售 | retire retirement: 退休 | return: 退货 返回 归还 退回 回来 |
return_ticket: 往返票 返程票 | reunion: 聚会 团聚 同学聚会 重逢 | reunion_dinner: 年夜饭 团圆饭 |
reveal uncover: 揭开 透露 露出 | revenue turnover: 营业额 营收 收入 | reverse: 倒车 相反 |
revert rollback: 回滚 撤销 还原 | review: 评价 评论 复习 审核 回顾 | revise: 复习 修改 | revision: 复习 修订 修改 |
revolution: 革命 | reward: 奖励 回报 | rhinitis: 鼻炎 鼻窦炎 | rhino rhinoceros: 犀牛 | rhythm: 节奏 节拍 |
rib: 排骨 肋骨 肋排 | ribbon: 丝带 缎带 | ribs: 排骨 肋排 肋骨 | rice: 米饭 大米 | rice_cooker: 电饭煲 电饭锅 |
rice_noodles: 米粉 河粉 米线 | rich wealthy: 富有 富裕 富 | riddle: 谜语 | ride: 骑 骑车 乘坐 |
ride_hailing: 网约车 打车 | right_angle: 直角 | rigid: 硬 死板 坚硬 僵硬 | ring: 戒指 铃声 响 | ringtone: 铃声 |
rinse: 冲洗 漂洗 淘洗 | ripe: 成熟 熟 | rise: 发酵 上升 上涨 升高 | risk: 风险 危险 冒险 | river: 河 江 河流 |
rmb yuan: 人民币 块钱 | road: 公路 马路 路 | road_sign: 路牌 路标 | road_trip: 自驾游 自驾 | roast: 烤 烘烤 烤肉 |
roast_duck: 烤鸭 | rob: 抢劫 抢 | robbery: 抢劫 | robot_vacuum: 扫地机 | rock: 石头 岩石 | rock_music: 摇滚 摇滚乐 |
rocket: 火箭 | role: 角色 作用 | roll: 花卷 擀 滚 卷 | roller_skating: 轮滑 溜冰 | rolling_pin: 擀面杖 |
romance: 爱情片 浪漫 恋爱 | romania: 罗马尼亚 | rome: 罗马 | roof: 屋顶 房顶 | room: 房间 屋子 空间 客房 |
rooster: 公鸡 | root: 根部 树根 根 | root_canal: 根管治疗 根管 | rope: 绳子 绳索 绳 | rose: 玫瑰 月季 |
rosemary: 迷迭香 | rotate spin: 旋转 转动 | rotten: 腐烂 坏掉 烂 坏 | rough: 粗糙 大概 | round: 圆形 圆 |
round_trip: 往返 来回 | roundabout: 环岛 转盘 | route: 路线 线路 | router: 路由器 路由 | routine: 作息 日常 习惯 惯例 |
row: 划船 赛艇 划船机 排 | rowing: 划船 赛艇 划船机 | rub: 擦 揉 搓 | rubber: 橡胶 橡皮 | rubber_band: 橡皮筋 |
rucksack: 背包 双肩包 书包 | rude: 没礼貌 粗鲁 无礼 | rugby: 橄榄球 | ruin: 毁掉 破坏 变质 宠坏 遗址 废墟 |
ruins: 遗址 废墟 | rule: 规则 规定 规矩 | ruler: 尺子 直尺 | rumor rumour: 谣言 传闻 | runny_nose: 流鼻涕 鼻涕 |
runway: 跑道 | rush_hour: 高峰期 早高峰 晚高峰 | russia: 俄罗斯 俄国 | russian: 俄语 俄文 俄罗斯人 俄罗斯 |
rust: 生锈 铁锈 锈 | rusty: 生锈 锈 | sacrifice: 牺牲 | sad: 难过 伤心 悲伤 | sadness: 悲伤 难过 |
safe: 安全 保险箱 保险柜 | safety: 安全 | safety_pin: 别针 | sailboat: 帆船 | salad: 沙拉 色拉 |
salary wage: 工资 薪水 薪资 月薪 年薪 | sale: 打折 销售 促销 特价 销量 销售额 | sales: 销售 销量 销售额 |
salesperson: 店员 销售员 售货员 销售 业务员 推销员 | saliva spit: 口水 唾液 | salmon: 三文鱼 鲑鱼 | salt: 盐 食盐 |
salty savory savoury: 咸 咸味 | sample: 样品 样本 试用装 抽样 采样 | sampling: 抽样 采样 | san_francisco: 旧金山 |
sanction: 制裁 | sand: 沙子 沙 | sandals: 凉鞋 | sandpaper: 砂纸 | sandstorm: 沙尘暴 | sandwich: 三明治 | sanya: 三亚 |
satellite: 卫星 | satisfaction satisfied: 满意 满足 | saturday: 星期六 礼拜六 周六 | saturn: 土星 |
sauce: 酱 酱汁 酱料 | saudi_arabia: 沙特 | sausage: 香肠 腊肠 | save: 节省 保存 省钱 拯救 储蓄 存款 |
save_money: 省钱 存钱 攒钱 | saving savings: 储蓄 存款 积蓄 | saw: 锯子 锯 | saxophone: 萨克斯 |
saying: 俗话 谚语 俗语 | scale: 规模 刻度 比例 体重秤 洗牙 秤 | scales: 秤 体重秤 | scaling tooth_cleaning: 洗牙 |
scallop: 扇贝 干贝 | scalp: 头皮 | scam: 骗局 诈骗 骗子 | scan: 扫描 扫码 | scandal: 丑闻 | scanner: 扫描仪 |
scar: 疤痕 伤疤 疤 | scare: 惊吓 害怕 吓人 吓 | scarf: 围巾 丝巾 | scatter: 散落 散 撒 | scatter_plot: 散点图 |
scene: 场景 画面 | schedule: 日程 时间表 安排 行程 进度 | schema: 模式 表结构 | scholarship: 奖学金 | school: 学校 |
school_bus: 校车 | school_uniform: 校服 | schoolbag: 书包 背包 | science: 科学 理科 |
science_fiction: 科幻 科幻片 科幻小说 | scientist: 科学家 | scissors: 剪刀 | scooter: 滑板车 踏板车 | scope: 范围 |
score: 分数 成绩 比分 | scorpion: 蝎子 | scotland: 苏格兰 | scrambled_eggs: 炒蛋 滑蛋 | scrape: 擦伤 刮 |
scratch: 划痕 抓 刮 挠 | scratching_post: 猫抓板 猫爬架 | scream: 尖叫 | screen: 屏幕 显示屏 筛选 |
screen_protector: 贴膜 钢化膜 手机膜 | screenplay: 剧本 脚本 | screenshot: 截图 截屏 | screw: 螺丝 螺丝钉 螺钉 |
screwdriver: 螺丝刀 起子 | script: 剧本 脚本 稿子 | scripture sutra: 佛经 经文 | scroll: 滚动 滑动 |
scrub: 刷洗 擦洗 刷 | sculpture: 雕塑 雕像 | sea: 海 大海 | sea_freight: 海运 | seafood: 海鲜 |
seal: 海豹 印章 密封 公章 盖章 | sealant: 玻璃胶 密封胶 硅胶 | search: 搜索 查找 检索 寻找 搜 |
search_engine: 搜索引擎 | season: 调味 季节 赛季 调料 调味料 佐料 | seat: 座位 位子 座椅 | seat_belt: 安全带 |
seattle: 西雅图 | seaweed: 海带 紫菜 海苔 | second_hand: 二手 旧 | second_language: 第二语言 二外 |
secret: 秘密 密钥 保密 | secretary: 秘书 | section: 部分 章节 | secure: 安全 牢固 | security: 安全 安全性 |
security_check: 安检 | security_guard: 保安 门卫 | seed: 种子 籽 | seedling: 幼苗 苗 | self_employed: 个体户 自雇 |
self_esteem: 自尊 自尊心 | self_harm: 自残 自伤 | self_introduction: 自我介绍 | selfie: 自拍 | selfie_stick: 自拍杆 |
selfish: 自私 | sell: 卖 出售 销售 | seller: 卖家 商家 卖方 | semester: 学期 | semiconductor: 半导体 |
semifinal: 半决赛 | seminar: 研讨会 讲座 | sender: 发件人 寄件人 | sense: 感觉 意义 感官 | sensitive: 敏感 |
sensor: 传感器 感应器 | sentence: 句子 句 | seoul: 首尔 | separate: 分居 分离 单独 分开 | separation: 分居 分开 |
september: 九月 | sequence: 数列 顺序 序列 | serbia: 塞尔维亚 | serial_number: 序列号 编号 | series: 系列 电视剧 |
serious: 严肃 严重 认真 | serve: 服务 招待 上菜 人份 份量 | server: 服务器 服务端 | service: 服务 |
service_charge: 服务费 手续费 | serving: 人份 份量 | sesame: 芝麻 | sesame_oil: 香油 芝麻油 | set_meal: 套餐 |
settle: 解决 定居 结算 | sew: 缝 缝纫 缝补 | sewage wastewater: 污水 废水 | sewing: 缝纫 缝 | sewing_machine: 缝纫机 |
sexy: 性感 | shade: 阴凉 遮阴 阴影 | shadow: 影子 阴影 | shake: 摇晃 抖动 握手 摇 | shallow: 浅 |
shame: 羞耻 惭愧 羞愧 | shampoo: 洗发水 | shanghai: 上海 | shape: 形状 图形 外形 |
share: 股份 分享 股票 共享 分摊 合租 | shared_bike: 共享单车 | shareholder: 股东 | shark: 鲨鱼 | sharp: 锋利 尖锐 尖 |
sharpen: 磨刀 削 | shed shedding: 掉毛 棚子 | sheep: 羊 绵羊 | sheet: 床单 表格 张 | sheet_music: 乐谱 谱子 琴谱 |
shelf: 架子 搁板 书架 置物架 货架 | shelf_life: 保质期 有效期 过期 | shenzhen: 深圳 | shift: 班次 轮班 换班 |
shine: 发光 闪耀 照 | shingles: 带状疱疹 | ship: 发货 船 寄 轮船 | shipment: 发货 运输 货运 |
shipping: 运费 发货 物流 运输 货运 | shipping_fee: 运费 邮费 | shirt: 衬衫 衬衣 | shiver tremble: 发抖 颤抖 |
shock: 震惊 吃惊 冲击 休克 | shocked: 震惊 吃惊 休克 | shoe shoes: 鞋 鞋子 | shoelace: 鞋带 | shoot: 拍摄 射击 |
shop: 商店 店铺 购物 店 | shop_assistant: 店员 售货员 销售 | shopping: 购物 买东西 逛街 |
shopping_cart trolley: 购物车 手推车 | shopping_list: 购物清单 | short_circuit: 短路 | short_story: 短篇小说 |
shortage: 短缺 缺乏 | shortcut: 近路 快捷键 捷径 快捷方式 | shorten: 缩短 精简 缩写 | shoulder: 肩膀 肩 肩部 |
shout yell: 大叫 喊 吼 | shovel spade: 铲子 铁锹 | shower: 淋浴 洗澡 花洒 阵雨 | shred: 切丝 撕碎 | shrink: 缩小 缩水 |
shutdown: 关机 关闭 | shy: 害羞 腼腆 | sibling siblings: 兄弟姐妹 兄弟 姐妹 | sichuan: 四川 | sick_leave: 病假 |
side_dish: 配菜 小菜 | side_effect: 副作用 | side_hustle side_job: 副业 兼职 | sieve strainer: 筛子 滤网 漏勺 |
sightseeing: 观光 游览 | sign: 签字 标志 签名 牌子 迹象 签 | sign_language: 手语 | signal: 信号 |
signature: 签名 签字 签署 | signature_dish: 招牌菜 特色菜 | signature_line: 落款 署名 | significance significant: 意义 |
silence: 沉默 安静 | silent: 静音 沉默 无声 | silicon: 硅 | silicone: 玻璃胶 硅胶 密封胶 | silk: 丝绸 真丝 丝 |
silly: 傻乎乎 笨 愚蠢 傻 | silver: 银色 银 | sim_card: 电话卡 手机卡 | similar: 相似 类似 差不多 |
similarity: 相似 相似处 | simmer: 小火 慢炖 煨 | simple: 简单 简洁 | simulate simulation: 模拟 仿真 |
sing: 唱歌 唱 声乐 | singapore: 新加坡 | singer: 歌手 | singing: 唱歌 声乐 | single: 单身 单个 单 |
single_mom single_mother single_mum single_parent: 单亲妈妈 单亲 | single_room: 单人间 单人房 | singular: 单数 |
sink: 水槽 洗碗池 下沉 洗手池 沉 | sister: 姐姐 妹妹 姐妹 | sit: 坐下 坐 | site: 网站 工地 现场 |
situation: 情况 处境 局面 | size: 尺寸 尺码 号码 大小 | skate skating: 滑冰 溜冰 轮滑 | skateboard: 滑板 |
sketch: 素描 草图 | ski skiing: 滑雪 | ski_resort: 滑雪场 雪场 | skill: 技能 技巧 能力 技术 熟练 | skilled: 熟练 |
skin: 皮肤 肌肤 | skinny: 瘦 骨感 | skip_class: 逃课 翘课 旷课 | skirt: 裙子 半身裙 | skunk: 臭鼬 | sky: 天空 |
skydiving: 跳伞 | skyscraper: 摩天大楼 高楼 | slang: 俚语 | sleep: 睡觉 睡眠 睡 | sleep_apnea sleep_apnoea: 呼吸暂停 |
sleeper: 卧铺 | sleeping_bag: 睡袋 | sleeping_pill: 安眠药 | sleepwalk sleepwalking: 梦游 | sleepy: 犯困 想睡 困 |
sleeve: 袖子 | slender: 苗条 瘦 纤细 | slice: 切片 薄片 片 | slide: 滑梯 幻灯片 演示文稿 演示 演讲 滑 |
slide_deck slides: 幻灯片 演示 演讲 演示文稿 | slightly: 稍微 略 | slim: 苗条 瘦 纤细 修身 | slip: 滑倒 滑 |
slipped_disc: 腰突 | slippers: 拖鞋 人字拖 | slippery: 湿滑 滑 | slogan: 口号 标语 广告语 | slope: 斜率 坡 |
slow_cooker: 慢炖锅 电炖锅 | slug: 鼻涕虫 蛞蝓 | smart_lock: 智能锁 指纹锁 | smartphone: 手机 智能手机 电话 |
smartwatch: 智能手表 手表 | smash: 打碎 摔碎 | smell: 气味 味道 异味 臭味 闻 | smile: 微笑 笑 笑容 |
smoke: 烟 抽烟 吸烟 烟熏 | smoke_alarm: 报警器 烟感 | smoking: 抽烟 吸烟 烟 | smooth: 光滑 顺利 平滑 |
smoothie: 奶昔 思慕雪 果昔 | sms text_message: 短信 信息 | snack: 零食 点心 小吃 | snack_bar: 小吃店 | snail: 蜗牛 |
snake: 蛇 | sneakers trainers: 运动鞋 球鞋 | sneeze: 打喷嚏 喷嚏 | snore snoring: 打呼噜 打鼾 呼噜 |
snorkel snorkeling snorkelling: 浮潜 | snow: 雪 下雪 | snowboard: 单板 滑雪 滑雪板 | snowman: 雪人 | soak: 泡 浸泡 |
soap: 肥皂 香皂 | sober: 清醒 戒酒 | social: 社会 社交 | social_media: 社交媒体 社交平台 |
social_security: 社保 社会保障 | socialism: 社会主义 | society: 社会 | sock socks: 袜子 |
soda soft_drink: 汽水 饮料 苏打水 | sodium: 钠 | soft: 软 柔软 柔和 | software: 软件 |
software_engineer: 程序员 码农 开发者 | soil: 土壤 泥土 土 | solar_eclipse: 日食 | solar_energy solar_power: 太阳能 |
solar_panel: 太阳能板 太阳能 光伏板 | solar_system: 太阳系 | solder soldering: 焊接 焊锡 | soldier: 士兵 军人 |
solid: 固体 结实 辅食 | solution: 解决方案 解决办法 解答 方案 办法 溶液 | solve: 解决 解 | solvent: 溶剂 | son: 儿子 |
song: 歌 歌曲 | sore: 酸痛 疼 酸 | sore_throat: 嗓子疼 喉咙痛 喉咙疼 咽痛 | sorry: 对不起 抱歉 | sort: 排序 分类 整理 |
soul: 灵魂 精神 | sound: 声音 听起来 | soundproof soundproofing: 隔音 | soup: 汤 羹 | sour: 酸 酸味 |
source: 来源 出处 源 | source_code: 源代码 源码 | sourdough: 酸面包 天然酵母 | south: 南方 南边 南部 南 |
south_africa: 南非 | south_america: 南美 南美洲 | southeast: 东南 | southeast_asia: 东南亚 | southwest: 西南 |
souvenir: 纪念品 伴手礼 特产 | soy_milk: 豆浆 豆奶 | soy_sauce: 酱油 生抽 老抽 | soybean: 黄豆 大豆 | spa: 水疗 温泉 |
space: 空间 空格 太空 宇宙 | space_shuttle: 航天飞机 | space_station: 空间站 |
spacecraft spaceship: 飞船 宇宙飞船 航天器 | spaceflight: 航天 | spain: 西班牙 | spam: 垃圾邮件 骚扰 |
spanish: 西班牙语 西语 西班牙人 | spanner wrench: 扳手 | spare: 备用 多余 | spare_part: 配件 备件 | spare_tyre: 备胎 |
sparkling_water: 气泡水 苏打水 | sparrow: 麻雀 | spatula: 锅铲 铲子 刮刀 | speak: 说话 口语 讲 |
speaker: 音箱 音响 扬声器 喇叭 演讲者 | speaking: 口语 | spec specification: 规格 规范 | special: 特殊 特别 |
specialist: 专家 专科医生 专科 | species: 物种 种类 | speech: 演讲 致辞 发言 讲话 | speech_recognition: 语音识别 |
speed: 速度 车速 超速 | speed_limit: 限速 | speeding: 超速 | spell: 拼写 咒语 拼 | spelling: 拼写 |
spend: 花费 花 花钱 支出 开支 消费 | spice: 香料 调料 | spicy: 辣 麻辣 | spider: 蜘蛛 | spill: 溢出 洒 | spinach: 菠菜 |
spine: 脊椎 脊柱 腰椎 | spirit: 灵魂 精神 白酒 烈酒 | spirit_level: 水平仪 | spoil: 宠坏 毁掉 溺爱 破坏 变质 |
spoiled: 宠坏 溺爱 变质 | sponge: 海绵 百洁布 | spoon: 勺子 汤匙 | spoonful: 勺 | sport sports: 运动 体育 |
sports_car: 跑车 | sports_day: 运动会 | spot: 痘痘 斑点 青春痘 污点 痤疮 痘 | spouse: 配偶 爱人 |
sprain: 扭伤 崴脚 扭到 | spread: 涂抹 传播 扩散 展开 抹 涂 | spreadsheet: 表格 电子表格 | spring: 春天 弹簧 春季 温泉 |
spring_festival: 春节 新年 | spring_roll: 春卷 | sprinkle: 撒上 撒 洒 | sprint: 短跑 迭代 冲刺 | sprout: 发芽 芽 |
square: 正方形 广场 平方 方形 方 | square_dancing: 广场舞 | square_meter square_metre: 平方米 平米 平方 |
square_root: 平方根 根号 | squat: 深蹲 | squeeze: 挤 榨 压 | squid: 鱿鱼 | squirrel: 松鼠 | sri_lanka: 斯里兰卡 |
stadium: 体育场 体育馆 球场 | staff: 员工 职员 人员 | stage: 舞台 阶段 | stain: 污渍 污垢 污点 染色 |
stainless_steel: 不锈钢 | staircase stairs: 楼梯 台阶 | stakeholder: 利益相关 干系人 相关方 | stale: 不新鲜 陈旧 |
stalk stem: 茎 茎干 | stamina: 体力 耐力 | stamp: 邮票 印章 盖章 | stand: 站 站立 | standard: 标准 |
standard_deviation: 标准差 | staple: 主食 | stapler: 订书机 | star: 明星 星星 名人 恒星 星 | star_anise: 八角 大料 |
stare: 凝视 盯 | starfish: 海星 | stargazing: 观星 看星星 | startup: 创业公司 启动 创业 开机 初创公司 |
state: 州 国家 状态 情况 | station: 车站 | stationery: 文具 办公用品 | statistical: 统计 |
statistics: 统计 统计学 数据 | statue: 雕像 塑像 | status: 状态 情况 | steak: 牛排 | steal: 偷 偷窃 盗 |
steam: 蒸 蒸汽 水蒸气 | steam_iron: 蒸汽熨斗 挂烫机 | steamer: 蒸锅 蒸笼 | steel: 钢 钢铁 不锈钢 钢材 | steep: 陡峭 陡 |
steering_wheel: 方向盘 | stem_cell: 干细胞 | step: 步骤 台阶 步数 步 | stepchild: 继子 继女 | stepdaughter: 继女 |
stepfather: 继父 后爸 | stepmother: 继母 后妈 | steps: 步数 步骤 台阶 | stepson: 继子 | steroid: 类固醇 激素 |
stew: 炖菜 炖 炖肉 | stick: 粘 棍子 贴 | sticker: 贴纸 表情包 | sticky: 粘 黏 | stiff: 僵硬 硬 | sting: 刺痛 蜇 |
stingy: 小气 抠门 吝啬 | stink stinky: 臭 臭味 | stir: 搅拌 翻炒 搅 | stir_fry: 炒 炒菜 翻炒 |
stitch suture: 缝针 拆线 | stock: 库存 股票 存货 高汤 清汤 | stock_market: 股市 股票市场 |
stockings tights: 丝袜 连裤袜 | stocktake stocktaking: 盘点 | stomach: 胃 肚子 |
stomach_ache stomachache: 肚子疼 胃痛 肚子痛 胃疼 | stone: 石头 石材 岩石 | stool: 凳子 大便 高脚凳 便便 拉屎 粪便 |
storage: 收纳 存储 储存 储物 存储空间 | store: 商店 储存 店铺 存放 保存 店 | storm: 暴风雨 风暴 | story: 故事 |
straight: 直走 笔直 | straight_line: 直线 | strain: 拉伤 扭伤 | stranger: 陌生人 | strategy: 策略 战略 |
straw: 吸管 稻草 | strawberry: 草莓 | stray: 流浪 流浪猫 流浪狗 | stream: 小溪 溪 | streamer youtuber: 主播 博主 |
street: 街 街道 大街 | street_food: 街头小吃 路边摊 小吃 | strength: 强度 力量 优点 优势 力气 强项 |
strength_training weight_training: 力量训练 撸铁 无氧 | stress: 压力 紧张 压力大 有压力 |
stressed: 压力大 压力 有压力 紧张 | stressful: 压力大 压力 有压力 | stretch stretching: 拉伸 伸展 | strict: 严格 严厉 |
strike: 罢工 | string: 字符串 绳子 线 弦 | stripe striped: 条纹 | stroke: 中风 笔画 脑卒中 脑梗 | stroll: 散步 溜达 |
strong: 强壮 结实 强 浓 | structure: 结构 | struggle: 挣扎 奋斗 努力 | stubborn: 固执 倔 | stuck: 卡住 | student: 学生 |
student_loan: 助学贷款 学生贷款 | student_visa: 学生签证 学签 | studio: 单间 工作室 | study: 书房 学习 研究 读书 |
study_abroad: 留学 出国留学 | stuffing: 馅料 填料 馅 | stupid: 笨 愚蠢 蠢 傻 | style: 风格 款式 文风 样式 |
subject: 科目 话题 学科 主题 题目 | sublet subtenant: 转租 | submit: 提交 递交 交 | subscribe: 订阅 关注 会员 |
subscription: 订阅 会员 | subsidy: 补贴 补助 | subtitle: 字幕 副标题 | subtract subtraction: 减法 减 |
suburb: 郊区 郊外 | succeed success: 成功 | succulent: 多肉 多肉植物 | sudden: 突然 | sue: 起诉 控告 告 |
suede: 麂皮 绒面 | suffer: 遭受 受苦 痛苦 | sufficient: 足够 够 充足 | sugar: 糖 白糖 | sugar_free: 无糖 |
suggest: 建议 提议 | suggestion: 建议 意见 提议 | suicidal suicide: 自杀 轻生 | suit: 西装 适合 套装 合适 |
suitcase: 行李箱 行李 箱子 拉杆箱 | suite: 套房 | sulfur sulphur: 硫 | sum total: 总数 总共 总和 总额 总计 一共 |
summarise summarize: 总结 概括 归纳 | summary: 总结 摘要 概括 | summer: 夏天 夏季 |
summer_holiday summer_vacation: 暑假 | sun: 太阳 | sunburn: 晒伤 晒黑 | sunday: 星期天 星期日 礼拜天 周日 周天 |
sunflower: 向日葵 | sunflower_seed: 瓜子 葵花籽 | sunglasses: 太阳镜 墨镜 | sunlight sunshine: 阳光 光照 日照 |
sunny: 晴天 晴 | sunroof: 天窗 | sunset: 日落 夕阳 傍晚 黄昏 | supermarket: 超市 | superstition superstitious: 迷信 |
supervisor: 主管 上司 导师 | supplement: 保健品 补充剂 营养品 | supplier: 供应商 供货商 | supply: 供应 提供 供给 |
supply_chain: 供应链 | support: 支持 支撑 客服 | surf surfing: 冲浪 | surface: 表面 | surgeon: 外科医生 外科 |
surgery: 手术 开刀 外科 | surprise surprised: 惊讶 惊喜 意外 吃惊 | surroundings: 周围 环境 | survey: 调查 问卷 |
survive: 生存 幸存 活下来 | sushi: 寿司 | suspect: 嫌疑人 怀疑 | sustainability sustainable: 可持续 | suv: 越野车 |
suzhou: 苏州 | swallow: 燕子 吞 吞咽 咽 | swamp wetland: 沼泽 湿地 | swan: 天鹅 | swap: 交换 调换 换 | sweden: 瑞典 |
swedish: 瑞典语 瑞典人 | sweep: 扫 扫地 打扫 | sweet: 甜 甜味 甜蜜 糖果 | sweet_potato: 红薯 地瓜 番薯 |
swell swelling swollen: 肿 肿胀 浮肿 红肿 | swim swimming: 游泳 | swing: 秋千 | swiss: 瑞士人 瑞士 |
switch: 开关 切换 交换机 换 | switzerland: 瑞士 | sydney: 悉尼 | symbol: 符号 象征 | symbolise symbolize: 象征 代表 |
symmetrical symmetry: 对称 | symptom: 症状 病症 | sync synchronise synchronization synchronize: 同步 |
synonym: 同义词 近义词 | syrup: 糖浆 | system: 系统 体系 制度 | tab: 标签页 选项卡 | table: 桌子 表格 餐桌 |
tablespoon: 汤匙 大勺 勺 | tablet: 药片 平板 药丸 平板电脑 药 | taekwondo: 跆拳道 | tag: 标签 | tai_chi: 太极 太极拳 |
tail: 尾巴 | tailor: 裁缝 | taipei: 台北 | taiwan: 台湾 | takeaway takeout: 外卖 打包 | takeoff: 起飞 |
tale: 故事 童话 | talent: 天赋 才华 有才华 有天赋 | talented: 有才华 有天赋 | talk: 说话 聊天 交谈 谈 聊 |
talkative: 话多 健谈 话痨 | tall: 个子高 高大 | tangerine: 橘子 桔子 | tantrum: 发脾气 闹脾气 | tanzania: 坦桑尼亚 |
tap_water: 自来水 | tape: 胶带 胶布 磁带 | tape_measure: 卷尺 | tariff: 关税 | taro: 芋头 | tarot: 塔罗 塔罗牌 |
tart: 蛋挞 挞 | task: 任务 作业 | taste: 味道 口味 尝 风味 品尝 | tax: 税 税款 税费 | tax_free: 免税 |
tax_refund: 退税 | tax_return: 报税 税表 报税表 | taxi_driver: 司机 | tea: 茶 茶叶 红茶 | tea_house: 茶馆 |
teach: 教学 讲课 教 | teacher: 老师 教师 | teal turquoise: 青色 蓝绿色 | team: 团队 球队 小组 队伍 队 |
teamwork: 团队合作 团队协作 | teapot: 茶壶 | tear: 眼泪 撕 泪水 撕破 | tease: 取笑 嘲笑 逗 | teaspoon: 茶匙 小勺 |
tech technology: 技术 科技 | teddy_bear: 泰迪熊 玩具熊 | tee: 短袖 | teeth tooth: 牙 牙齿 | teething: 长牙 出牙 |
television tv: 电视 电视机 | temper: 脾气 发脾气 | temperature: 温度 气温 体温 | template: 模板 范本 |
temple: 寺庙 庙 寺 | temporary: 临时 暂时 | tenancy_agreement: 租房合同 租约 | tenant: 租客 房客 租户 |
tend: 倾向 往往 | tender: 鲜嫩 温柔 嫩 | tennis: 网球 | tense: 紧张 时态 忐忑 | tent: 帐篷 | term: 学期 条款 条件 |
terminal: 航站楼 命令行 终端 | terminate termination: 终止 解除 | terms: 条款 条件 | terrorism: 恐怖主义 |
terrorist: 恐怖分子 | test: 测试 测验 考试 试验 检测 | test_result: 检查结果 化验单 报告 | test_tube: 试管 |
testament: 遗嘱 | texas: 德州 得克萨斯 | text: 文字 文本 短信 | textbook: 课本 教材 教科书 |
textile: 面料 纺织 布料 纺织品 织物 | texture: 纹理 质地 质感 口感 | thai: 泰语 泰国人 泰国 | thailand: 泰国 |
thanksgiving: 感恩节 | theater theatre: 剧院 剧场 | theft: 盗窃 偷窃 | theme: 主题 话题 | theorem: 定理 | theory: 理论 |
therapist: 治疗师 咨询师 | therapy: 治疗 疗法 心理治疗 | thermodynamics: 热力学 | thermometer: 体温计 温度计 |
thermos: 保温杯 保温瓶 热水瓶 | thesis_defence thesis_defense: 答辩 论文答辩 | thick: 厚 粗 浓 | thicken: 勾芡 变稠 |
thickness: 厚度 | thief: 小偷 贼 | thigh: 大腿 | thin: 薄 瘦 细 | think: 觉得 认为 思考 | thirst: 渴 口渴 |
thirsty: 口渴 渴 | thought: 想法 思想 | thread: 线程 丝线 线 绳子 字符串 | threat threaten: 威胁 | thriller: 惊悚片 |
throat: 喉咙 嗓子 咽喉 | throw: 扔 抛 投 | thumb: 拇指 大拇指 | thunder: 雷 打雷 | thunderstorm: 雷雨 雷阵雨 |
thursday: 星期四 礼拜四 周四 | thyme: 百里香 | thyroid: 甲状腺 | tianjin: 天津 | tibet: 西藏 | tick: 蜱虫 勾选 |
ticket: 票 工单 门票 车票 机票 罚单 | ticket_office: 售票处 售票厅 | tide: 潮汐 涨潮 潮水 退潮 |
tidy: 收拾 整理 断舍离 整洁 整齐 收纳 | tidying: 收纳 存储 储物 | tie: 领带 绑 平局 系 | tiger: 老虎 虎 |
tight: 紧身 丝袜 连裤袜 紧 | tighten: 拧紧 收紧 | tile: 瓷砖 地砖 | timber: 木材 木头 | time_zone: 时区 |
timeout: 超时 | timer: 计时器 定时器 | timetable: 课表 时刻表 时间表 课程表 | tin: 罐头 罐子 罐 易拉罐 锡 |
tinnitus: 耳鸣 | tip: 小费 技巧 建议 提示 小贴士 | tire tyre: 轮胎 | tired weary: 疲惫 疲劳 疲倦 累 |
tissue: 餐巾纸 组织 纸巾 餐巾 | titanium: 钛 | title: 标题 题目 职称 头衔 | toad: 蟾蜍 蛤蟆 癞蛤蟆 |
toast: 吐司 敬酒 烤面包 干杯 | toaster: 烤面包机 多士炉 | toddler: 幼儿 小孩 宝宝 学步 | todo: 待办 待办事项 |
toe: 脚趾 脚趾头 | tofu: 豆腐 | toilet: 厕所 卫生间 马桶 洗手间 | toilet_paper: 卫生纸 厕纸 | token: 令牌 词元 |
tokyo: 东京 | tolerance: 公差 容忍 | tolerate: 容忍 忍受 | toll: 过路费 高速费 | tomato: 番茄 西红柿 |
tomb_sweeping: 扫墓 上坟 | ton tonne: 吨 | tone: 语气 声调 口吻 语调 | tongue: 舌头 舌 | tool: 工具 | toolbox: 工具箱 |
toothache: 牙疼 牙痛 | toothbrush: 牙刷 | toothpaste: 牙膏 | top: 上衣 顶部 上面 顶 | topic: 主题 话题 题目 科目 |
tornado: 龙卷风 | toronto: 多伦多 | tortoise turtle: 乌龟 海龟 龟 | touch: 触摸 接触 感动 摸 碰 | touched: 感动 |
touchscreen: 触摸屏 触屏 | tough: 坚韧 艰难 | tour_guide: 导游 | tourism: 旅游 旅游业 |
tourist traveler traveller: 游客 旅客 | tourist_visa: 旅游签证 旅游签 | tournament: 锦标赛 比赛 | tow_truck: 拖车 |
towel: 毛巾 浴巾 | tower: 塔 塔楼 | town: 镇 小镇 城镇 | toxic: 毒 有毒 毒性 | toy: 玩具 | track: 追踪 跟踪 查询 |
tracking_number: 快递单号 单号 物流单号 | tractor: 拖拉机 | trade: 贸易 交易 | trade_union union: 工会 |
trademark: 商标 | tradition traditional: 传统 | traffic: 交通 流量 车流 | traffic_jam: 堵车 塞车 |
traffic_light: 红绿灯 信号灯 | trailer: 预告片 拖车 | train: 训练 火车 培训 列车 动车 | train_ticket: 火车票 车票 |
training: 训练 培训 火车 | tram: 有轨电车 电车 | transaction: 交易 事务 | transcript: 成绩单 文字稿 |
transfer: 转账 换乘 汇款 转让 转移 调动 | transform: 改造 转变 变形 | transformer: 变压器 | transgender: 跨性别 变性 |
transistor: 晶体管 | translate: 翻译 译 | translation: 翻译 译文 | translator: 翻译 译者 译员 |
transparency transparent: 透明 透明度 | transplant: 移栽 移植 | transport transportation: 交通 运输 | trap: 陷阱 |
trash: 垃圾 回收站 垃圾桶 | trauma: 创伤 阴影 | travel: 旅行 旅游 出游 | travel_agency: 旅行社 |
travel_insurance: 旅游保险 旅行险 | tray: 托盘 烤盘 | treadmill: 跑步机 | treasure: 宝藏 宝贝 |
treat: 治疗 疗法 对待 请客 | treatment: 治疗 疗法 | tree: 树 树木 | trend: 趋势 潮流 | trial: 审判 试用 审理 免费试用 |
triangle: 三角形 | trick: 技巧 窍门 诡计 把戏 | trigonometry: 三角函数 三角学 | trim: 修剪 剪枝 剪 |
trip: 旅行 旅游 旅程 出游 绊倒 | triple: 三倍 | tripod: 三脚架 | trivial unimportant: 不重要 琐碎 | trophy: 奖杯 |
tropical: 热带 | trouble: 麻烦 困难 | troubleshoot troubleshooting: 故障排查 排查 | true: 真 真实 | trumpet: 小号 |
trunk: 后备箱 树干 | trust: 信任 相信 | truth: 真相 真理 实话 | tsunami: 海啸 | tube: 管子 软管 |
tuberculosis: 肺结核 结核 | tuesday: 星期二 礼拜二 周二 | tuition: 学费 | tulip: 郁金香 | tumor tumour: 肿瘤 瘤 |
tuna: 金枪鱼 吞拿鱼 | tunnel: 隧道 | turbine: 涡轮 涡轮机 | turkey: 火鸡 土耳其 | turkish: 土耳其语 土耳其人 |
turmeric: 姜黄 | turn_left: 左转 左拐 | turn_right: 右转 右拐 | tutor: 家教 辅导老师 导师 辅导 补习 |
tutoring: 辅导 补习 家教 | twin twins: 双胞胎 龙凤胎 | twist: 扭 拧 | type: 打字 类型 种类 | typhoon: 台风 |
typical: 典型 | typo: 错别字 笔误 拼写错误 | uae: 阿联酋 | ugly: 丑 难看 | ui user_interface: 界面 用户界面 |
ukraine: 乌克兰 | ukulele: 尤克里里 | ulcer: 溃疡 胃溃疡 | ultrasound: 超声 彩超 | ultraviolet uv: 紫外线 |
umbrella: 雨伞 伞 | unavailable: 不可用 没货 | unblock: 疏通 通下水道 | uncertain unsure: 不确定 |
uncle: 叔叔 舅舅 伯伯 姑父 | unclear vague: 模糊 不清楚 含糊 | uncomfortable: 不舒服 难受 | undercooked: 没熟 夹生 |
underfloor_heating: 地暖 | undergraduate: 本科生 本科 | underline: 下划线 划线 | understand: 理解 明白 懂 |
underwear: 内衣 内裤 | undo: 撤销 | unemployed unemployment: 失业 待业 | unfair: 不公平 不公 | unfamiliar: 陌生 不熟悉 |
unfold: 展开 | unfortunately: 可惜 不幸 遗憾 | unfriendly: 不友好 | unhealthy: 不健康 | uniform: 制服 校服 |
uninstall: 卸载 | unique: 独特 唯一 | unit: 单位 单元 | unit_test: 单元测试 | united_nations: 联合国 |
university: 大学 高校 | unknown: 未知 未知数 不明 | unlimited: 无限 不限 | unload: 卸货 卸下 | unlock: 解锁 开锁 |
unlucky: 倒霉 不幸 | unnecessary: 不必要 没必要 | unpack: 拆开 拆包 | unplug: 拔掉 拔插头 | unreasonable: 不合理 无理 |
unreliable: 不可靠 不靠谱 | unsubscribe: 退订 取消订阅 | unsuitable: 不适合 不合适 | untie: 解开 |
unusual: 不寻常 少见 特别 | unwell: 生病 病 不舒服 | update upgrade: 升级 | upload: 上传 |
upset: 难过 不开心 不高兴 郁闷 心烦 | upstairs: 楼上 | urgent: 紧急 着急 急需 急 | urine: 尿 小便 尿液 |
urine_test: 尿检 验尿 | usb_stick: 优盘 | useful: 实用 | useless: 无用 | user: 用户 使用者 |
user_experience ux: 用户体验 体验 | username: 用户名 账号 | uterus womb: 子宫 | utility_bill: 水电费 |
vacancy: 空缺 职缺 空房 | vacant: 空置 | vacation: 假期 度假 休假 放假 | vaccination vaccine: 疫苗 接种 打疫苗 |
vacuum: 吸尘器 真空 吸尘 | valentines_day: 情人节 | validity: 有效期 | valley: 山谷 峡谷 | value: 价值 数值 |
valve: 阀门 阀 | van: 面包车 厢式车 | vancouver: 温哥华 | vanilla: 香草 | vapor vapour: 蒸汽 水蒸气 | variable: 变量 |
variance: 方差 | variety: 种类 | variety_show: 综艺 综艺节目 | vase: 花瓶 | vat: 增值税 | vector: 向量 矢量 |
vegan: 纯素 素食 全素 | vegetable veggie: 蔬菜 菜 青菜 | vegetable_garden: 菜园 菜地 | vegetarian: 素食 素食者 吃素 |
vehicle: 车辆 车 | vein: 血管 静脉 | velocity: 速度 流速 | velvet: 天鹅绒 丝绒 | vendor: 卖家 供应商 商家 |
venice: 威尼斯 | ventilate ventilation: 通风 换气 | venus: 金星 | verb: 动词 | verification verify: 验证 核实 |
version: 版本 | vertical: 垂直 竖 | vest waistcoat: 背心 马甲 | vet veterinarian: 兽医 宠物医生 |
vibrate vibration: 振动 震动 | victim: 受害者 受害人 | video: 视频 录像 | video_call: 视频通话 视频会议 视频 视频电话 |
video_game: 电子游戏 游戏 | vienna: 维也纳 | vietnam: 越南 | vietnamese: 越南语 越南人 |
view: 视图 风景 意见 景色 看法 观点 | viewpoint: 观景台 观点 角度 视角 | village: 村子 村 村庄 乡村 |
vinegar: 醋 白醋 陈醋 | vineyard: 葡萄园 | violence: 暴力 | violin: 小提琴 | virtual: 虚拟 | virtual_machine: 虚拟机 |
virtual_reality: 虚拟现实 | virus: 病毒 | visa: 签证 | visible: 可见 看得见 | visit: 拜访 参观 看望 访问 |
visitor: 访客 游客 客人 | visualisation visualization: 可视化 | vitamin: 维生素 维他命 | vocabulary: 词汇 单词 词汇量 |
vodka: 伏特加 | voice_message: 语音 语音消息 | volcano: 火山 | volleyball: 排球 | voltage: 电压 |
volume: 体积 音量 容量 | volunteer: 志愿者 义工 | vomit: 呕吐 吐 | vote: 投票 选票 | voter: 选民 |
vulnerability: 漏洞 弱点 | waffle: 华夫饼 | wag: 摇尾巴 | waist: 腰 腰部 腰围 | wait: 等 等待 等候 |
waiter waitress: 服务员 | wake: 醒 醒来 起床 叫醒 | wales: 威尔士 | walk walking: 走路 散步 步行 | walk_dog: 遛狗 |
wall: 墙 墙壁 墙面 | wallet: 钱包 钱夹 | wallpaper: 壁纸 墙纸 | walnut: 核桃 | war: 战争 打仗 | ward: 病房 |
warehouse: 仓库 | warm: 暖和 温暖 保暖 | warn: 警告 提醒 提示 预警 | warning: 警告 提示 预警 |
warranty: 保修 质保 保修期 保证 | warsaw: 华沙 | wash: 洗 清洗 洗涤 | washbasin: 洗手盆 洗手池 脸盆 洗脸盆 洗脸池 |
washer washing_machine: 洗衣机 | washington: 华盛顿 | wasp: 黄蜂 马蜂 | waste: 垃圾 浪费 废物 | watch: 手表 观看 |
water: 浇水 喝水 水 | water_bill: 水费 | water_dispenser: 饮水机 | water_heater: 热水器 锅炉 | water_meter: 水表 |
water_outage: 停水 | water_park: 水上乐园 | water_purifier: 净水器 | watercolor watercolour: 水彩 水彩画 |
waterfall: 瀑布 | watering: 浇水 | watermelon: 西瓜 | waterproof: 防水 | watt: 瓦特 瓦 | wattage: 功率 瓦数 |
wave: 海浪 波浪 浪 波 | wavelength: 波长 | wax: 蜡 | weak: 虚弱 无力 没力气 弱 | weakness: 弱点 缺点 | wealth: 财富 |
wean weaning: 断奶 辅食 | weapon: 武器 | wear: 穿 戴 | weasel: 黄鼠狼 | weather: 天气 | weather_forecast: 天气预报 |
weave: 编织 织 | web_page webpage: 网页 页面 | webcam: 摄像头 | website: 网站 站点 官网 | wedding: 婚礼 结婚 |
wedding_dress: 婚纱 | wedding_invitation: 请柬 请帖 喜帖 | wedding_photo: 婚纱照 | wedding_ring: 婚戒 戒指 |
wednesday: 星期三 礼拜三 周三 | wee: 尿尿 小便 | weed: 杂草 除草 | weekday: 工作日 平日 | weep: 哭 流泪 |
weigh: 称重 权衡 称 | weighing_scale: 体重秤 秤 | weight: 重量 体重 权重 | weightlessness zero_gravity: 失重 |
weightlifting: 举重 举铁 | welcome: 欢迎 | weld welding: 焊接 | welfare: 福利 低保 | west: 西方 西边 西部 西 |
wet: 湿 潮湿 弄湿 | whale: 鲸鱼 鲸 | wheel: 轮子 车轮 | wheelchair: 轮椅 | whip: 打发 搅打 | whisk: 打蛋器 打发 搅打 |
whiskey whisky: 威士忌 | whisper: 耳语 低声 悄悄话 | white: 白色 白 | whitening: 美白 | wholesale: 批发 |
wholesaler: 经销商 批发商 分销商 | widow: 寡妇 丧偶 | widower: 鳏夫 丧偶 | width: 宽度 | wife: 老婆 妻子 媳妇 |
wifi: 无线网 无线 网络 | wild: 野生 野外 | wild_animal wildlife: 野生动物 | willow: 柳树 | willpower: 意志力 毅力 |
wilt wither: 枯萎 蔫 | win: 获胜 胜利 赢 胜 | wind: 风 | wind_energy wind_power: 风能 风电 风力发电 |
wind_turbine: 风机 风车 | window: 窗户 窗口 窗 | window_seat: 靠窗 | windowsill: 窗台 |
windscreen windshield: 挡风玻璃 | windy: 风大 刮风 大风 | wine: 葡萄酒 红酒 酒 | wing: 翅膀 | winter: 冬天 冬季 |
winter_holiday winter_vacation: 寒假 | winter_melon: 冬瓜 | wipe: 擦 擦拭 抹 | wiper: 雨刷 雨刮器 |
wire: 电线 电缆 铁丝 导线 线 | wireless: 无线 无线网 网络 | wisdom: 智慧 | wisdom_tooth: 智齿 | wise: 明智 智慧 |
wish: 祝福 祝愿 希望 愿望 | withdraw withdrawal: 取款 取钱 提现 撤回 | witness: 证人 目击者 | wok: 炒锅 铁锅 |
wolf: 狼 | womens_day: 妇女节 | wonton: 馄饨 云吞 | wood: 木头 木材 森林 树林 木 | wooden: 木头 木制 实木 |
woodpecker: 啄木鸟 | wool: 羊毛 毛线 | word_count: 字数 | word_processor: 文字处理 |
work_permit work_visa: 工作签证 工作许可 工签 | workday: 工作日 | worker: 工人 员工 | workflow: 工作流 流程 |
workload: 工作量 | workout: 锻炼 健身 运动 训练 练习 | workplace: 职场 工作场所 | workshop: 研讨会 车间 工作坊 |
world: 世界 全球 | world_cup: 世界杯 | worm: 虫 虫子 蚯蚓 | worried: 担心 担忧 发愁 | worry: 担心 担忧 发愁 烦恼 忧虑 |
worship: 拜佛 崇拜 祭拜 | worthless: 不值钱 没价值 | wrap: 包裹 卷饼 包装 包 | wrapping_paper: 包装纸 |
wrestling: 摔跤 | wrinkle: 皱纹 褶皱 细纹 皱 | wrist: 手腕 腕部 | wuhan: 武汉 | xiamen: 厦门 | xinjiang: 新疆 |
yacht: 游艇 | yam: 山药 | yarn: 毛线 羊毛 | yeast: 酵母 | yellow: 黄色 发黄 黄叶 黄 | yellowing: 发黄 黄叶 | yen: 日元 |
yield: 良率 产量 收益 | yoga: 瑜伽 | yoga_mat: 瑜伽垫 | yoghurt yogurt: 酸奶 | youth: 青春 青年 年轻人 | yunnan: 云南 |
zebra: 斑马 | zero: 零 | zinc: 锌 | zip: 拉链 压缩 压缩包 | zipper: 拉链 | zoo: 动物园 | zoom: 缩放 放大 |
zurich: 苏黎世
"""
"""Entries between bars: English words of one meaning, then their translations. Source: ours."""
