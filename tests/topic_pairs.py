"""Ten short conversations in each language, and sessions in which one of them follows another without a cue.

Each conversation has four turns. Its first question is complete in itself; the others are as people ask them: some
share no word with what they hang on, some have a pronoun, some name their subject. ``recall`` asks again for a fact of
one of the first three turns, in words of that turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Turns = tuple[tuple[str, str], ...]


class Topic(NamedTuple):
    """A conversation on one topic: its turns, a question that goes back to it, and the turn that answers that."""

    name: str
    turns: Turns
    recall: str
    evidence: int


class Session(NamedTuple):
    """A conversation that leaves one topic for another.

    Attributes:
        name: the topic that is left and the new one.
        before: the turns before the switch: earlier topics whole, the last one without its last turn.
        old: the topic that is left.
        old_at: the position of its first turn.
        new: the topic that begins.
    """

    name: str
    before: Turns
    old: Topic
    old_at: int
    new: Topic


def sessions(language: str, *, topics_before: int = 1) -> Iterator[Session]:
    """Yield a session for every ordered pair of topics of a language.

    Args:
        language: ``zh`` or ``en``.
        topics_before: topics before the switch, the one that is left among them, 1 to 9.
    """
    topics = TOPICS[language]
    for at, old in enumerate(topics):
        others = topics[at + 1 :] + topics[:at]
        for new in others:
            earlier = [topic for topic in others if topic is not new][: topics_before - 1]
            head = tuple(turn for topic in earlier for turn in topic.turns)
            yield Session(f"{old.name} > {new.name}", (*head, *old.turns[:-1]), old, len(head), new)


TOPICS: dict[str, tuple[Topic, ...]] = {
    "zh": (
        Topic(
            "馒头",
            (
                (
                    "第一次在家蒸馒头，500 克面粉要放多少酵母？",
                    "放 5 克干酵母，用 260 毫升温水化开，水温别超过 38 度。夏天可以减到 4 克。",
                ),
                ("要醒多久？", "揉光以后发到两倍大，室温 25 度大约一个小时。整好形再醒 20 分钟。"),
                ("上锅用冷水还是开水？", "冷水上锅更保险，水开后转中火蒸 15 分钟。"),
                ("为什么一揭盖就塌了？", "多半是关火就揭盖，温差太大。关火后焖 5 分钟，再开一条缝。"),
            ),
            recall="冷水上锅，水开以后蒸几分钟？",
            evidence=2,
        ),
        Topic(
            "青海湖",
            (
                (
                    "七月想租车自驾青海湖，环湖一圈大概几天合适？",
                    "两天比较从容：第一天从西宁到黑马河看日落，第二天经刚察回西宁。环湖路一圈约 360 公里。",
                ),
                ("那租车一天多少钱？", "紧凑型 SUV 旺季每天 300 到 400 元，另收 50 元基础保险。押金一般 3000 元。"),
                ("会有高原反应吗？", "湖面海拔 3196 米，多数人只是有点头疼。第一天别跑跳，带上布洛芬。"),
                ("晚上冷不冷？", "七月夜里只有 8 度左右，要带一件薄羽绒。"),
            ),
            recall="黑马河看日落排在第几天？",
            evidence=0,
        ),
        Topic(
            "死锁",
            (
                (
                    "线上 MySQL 报 Deadlock found when trying to get lock，应该先看哪里？",
                    "先执行 SHOW ENGINE INNODB STATUS，看最近一次死锁的那一段，里面有两个事务各自持有和等待的锁。",
                ),
                (
                    "看了，两边都在更新订单表，怎么办？",
                    "让两个事务按同样的主键顺序更新，再把事务拆小。实在避不开，就捕获 1213 错误，重试三次。",
                ),
                ("这样会不会重复扣款？", "会有风险，所以扣款要带幂等键，比如拿订单号加操作类型做唯一索引。"),
                ("加在哪张表？", "加在支付流水表上，不要加在订单表上。"),
            ),
            recall="捕获到 1213 错误要重试几次？",
            evidence=1,
        ),
        Topic(
            "绝育",
            (
                (
                    "家里的母猫六个月大，什么时候做绝育比较好？",
                    "六到八个月、体重过 2.5 公斤就可以做，最好避开发情期。术前要禁食 8 小时、禁水 4 小时。",
                ),
                ("大概要花多少？", "县城 500 到 800 元，大城市的连锁医院 1200 到 2000 元，差别主要在麻醉方式。"),
                ("它做完多久能拆线？", "十天左右，这期间要戴伊丽莎白圈，别让它舔伤口。"),
                ("能洗澡吗？", "拆线后再过一周才行，之前只能用湿巾擦。"),
            ),
            recall="母猫绝育之前要禁食几个小时？",
            evidence=0,
        ),
        Topic(
            "电钢琴",
            (
                (
                    "想买一台入门的电钢琴，预算四千，选哪个型号？",
                    "雅马哈 P-145 或者罗兰 FP-10 都行，88 键全配重。FP-10 手感更接近真琴，P-145 轻 3 公斤。",
                ),
                ("放在出租屋里会不会吵到邻居？", "戴上耳机就只剩敲键的震动，下面铺一块 2 厘米厚的橡胶垫就好。"),
                ("那二手的呢？", "把键挨个按一遍，看有没有松动和发黄。三年内的机器大约打六折。"),
                ("还要配什么？", "一条可调高度的凳子，一个能踩半踏的踏板。"),
            ),
            recall="琴下面那块橡胶垫要多厚？",
            evidence=1,
        ),
        Topic(
            "养老保险",
            (
                (
                    "从武汉换到成都上班，养老保险怎么转过去？",
                    "在新单位参保满一个月后，到国家社保平台办关系转移，原参保地填武汉，全程网上办。一般 45 天内到账。",
                ),
                ("中间断了两个月要紧吗？", "养老看累计年限，不影响已有的部分。医保断缴超过三个月才要重新算等待期。"),
                ("以前交的都算吗？", "都算，年限合并，单位缴的部分转 12%。"),
                ("要不要本人跑一趟？", "不用，刷脸认证就行，材料都是系统之间传的。"),
            ),
            recall="医保断缴超过多久要重新算等待期？",
            evidence=1,
        ),
        Topic(
            "游泳",
            (
                (
                    "五岁的孩子第一次学游泳，报大班还是一对一？",
                    "怕水就先上 4 节一对一，敢把脸埋进水里以后换成一带四的小班。大班一带十二，大半时间在排队。",
                ),
                ("一周几次？", "一周两次，每次 45 分钟，上满 12 次基本能漂浮换气。"),
                ("他老是呛水怎么办？", "先在家用脸盆练吐气，水下用鼻子呼，水面用嘴吸。每天 5 分钟，一周就好。"),
                ("泳镜要自己买吗？", "要，选儿童款的硅胶圈，别用馆里公用的。"),
            ),
            recall="用脸盆练吐气，每天练几分钟？",
            evidence=2,
        ),
        Topic(
            "路由器",
            (
                (
                    "三室一厅，路由器放在弱电箱里，卧室没有信号，怎么改？",
                    "买一套子母路由，母机接弱电箱里的光猫，子机插卧室的网口，两个节点之间走网线。",
                ),
                ("没留网口呢？", "可以用电力猫，或者拉一根隐形光纤，贴着踢脚线走，两百来块就够。"),
                ("哪个更稳？", "隐形光纤更稳，能跑满千兆。电力猫受空调启停影响，实际只有一百多兆。"),
                ("师傅上门要多久？", "布线加调试一个半小时左右。"),
            ),
            recall="子母路由的母机接在哪里？",
            evidence=0,
        ),
        Topic(
            "尿酸",
            (
                (
                    "体检查出尿酸 486，需要马上吃药吗？",
                    "没有发作过痛风，可以先控制饮食三个月再复查。超过 540，或者一年发作两次，才考虑降尿酸药。",
                ),
                ("哪些东西不能碰？", "动物内脏、浓肉汤、啤酒和含糖饮料，贝类一周至多一次。"),
                ("豆腐行不行？", "行，豆制品的嘌呤在加工时已经流失大半，每天 100 克没问题。"),
                ("多喝水有用吗？", "有用，每天两升，分八次喝。"),
            ),
            recall="尿酸超过多少才考虑吃药？",
            evidence=0,
        ),
        Topic(
            "表格",
            (
                (
                    "Excel 里想把三张分店的表按商品编号合并，用什么函数？",
                    "用 XLOOKUP，第四个参数填 0，这样找不到时返回 0。旧版没有这个函数，就用 INDEX 加 MATCH。",
                ),
                ("有的编号后面带空格，对不上。", "先加一列 =TRIM(CLEAN(A2))，用清理过的那一列去匹配。"),
                ("行数一多就很卡，有别的办法吗？", "超过五万行就改用 Power Query 的合并查询，刷新一次只要几秒。"),
                ("难学吗？", "不难，跟着录屏做一遍，半个下午就会了。"),
            ),
            recall="XLOOKUP 找不到的时候返回什么？",
            evidence=0,
        ),
    ),
    "en": (
        Topic(
            "tyre",
            (
                (
                    "The rear tyre of my commuter bike goes flat every night, what should I check first?",
                    "Run a cotton ball around the inside of the tyre and see where it snags on glass or wire. "
                    "Then hold the tube under water and look for bubbles near the valve.",
                ),
                (
                    "And if there aren't any?",
                    "Then the valve core is probably loose. Tighten it with a core tool, which costs two euros.",
                ),
                ("How hard should I pump it afterwards?", "About 4.5 bar for a 37 mm tyre, a little less in the rain."),
                (
                    "Is tubeless worth it?",
                    "Not for a commute of five kilometres; the sealant dries out every six months.",
                ),
            ),
            recall="How much does a valve core tool cost?",
            evidence=1,
        ),
        Topic(
            "night train",
            (
                (
                    "Is there a night train from Zurich to Vienna, and what does a bed cost?",
                    "Yes, the Nightjet leaves Zurich at 21:40 and arrives at 7:54. "
                    "A couchette starts at 59 euros, a private sleeper at 149.",
                ),
                ("And for two people?", "A double sleeper is 219 euros together, cheaper than two singles."),
                (
                    "How early should we book?",
                    "Sales open 180 days ahead, and the cheapest berths go within two weeks.",
                ),
                ("Do they serve breakfast?", "Yes, six items from a list, included with a sleeper."),
            ),
            recall="When does the Nightjet arrive in Vienna?",
            evidence=0,
        ),
        Topic(
            "leak",
            (
                (
                    "My Python worker grows by 200 MB an hour, how do I find the leak?",
                    "Take two tracemalloc snapshots ten minutes apart and compare them with compare_to. "
                    "The top lines of the difference are your suspects.",
                ),
                (
                    "It points at our response cache.",
                    "Then nothing bounds that cache. Wrap it in an LRU with maxsize=2048, or let entries expire after 15 minutes.",
                ),
                ("Which of the two would you pick?", "The LRU, because it stays bounded whatever the traffic does."),
                (
                    "Can I try that before we deploy?",
                    "Replay an hour of requests from the access log and plot the RSS.",
                ),
            ),
            recall="How far apart should the two tracemalloc snapshots be?",
            evidence=0,
        ),
        Topic(
            "basil",
            (
                (
                    "Why are the lower leaves of my basil turning black?",
                    "Usually from cold or wet roots: basil suffers below 12 degrees. "
                    "Take it indoors at night and let the top of the soil dry out.",
                ),
                (
                    "Should I cut them off?",
                    "Yes, pinch off everything dark just above a pair of leaves; it branches there.",
                ),
                ("How often does it need feeding?", "Every three weeks from May on, at half the usual strength."),
                ("What about winter?", "It rarely survives; sow again in March on a bright sill."),
            ),
            recall="Below how many degrees does basil suffer?",
            evidence=0,
        ),
        Topic(
            "deposit",
            (
                (
                    "My landlord has kept my deposit for four months since I moved out, what can I do?",
                    "Send a dated letter that asks for the money and a list of deductions within 14 days. "
                    "After that, file in small claims court; the fee is about 75 dollars.",
                ),
                (
                    "Do I need a lawyer?",
                    "No, most tenants go alone; bring the lease, the move-in photos and your letter.",
                ),
                ("How long does that usually take?", "Six to ten weeks from filing to the hearing."),
                ("What if he doesn't show up?", "Then the judge usually rules for you on the spot."),
            ),
            recall="How high is the fee in small claims court?",
            evidence=0,
        ),
        Topic(
            "half marathon",
            (
                (
                    "I want to run my first half marathon in October, how many weeks of training do I need?",
                    "Twelve if you already run 20 km a week: three runs, and the long one grows from 10 to 18 km.",
                ),
                (
                    "I only have two days.",
                    "Then keep the long run and one set of intervals, and cycle on a third evening.",
                ),
                ("What about my knees?", "Add squats and calf raises twice a week, and change shoes after 700 km."),
                ("Anything special the night before?", "Plain pasta, no new food, and lay out your number."),
            ),
            recall="After how many km do I have to change my running shoes?",
            evidence=2,
        ),
        Topic(
            "grinder",
            (
                (
                    "Which burr grinder would you buy for filter coffee under 150 euros?",
                    "The Timemore C3 at 75 euros if you don't mind cranking, otherwise the Baratza Encore at 149.",
                ),
                ("Is the cheaper one loud?", "No, about 55 decibels; you can talk over it."),
                ("How do I clean it?", "Brush the burrs once a week, and take them out every two months."),
                ("Could it do espresso?", "Hardly; the steps are too coarse to dial in a shot."),
            ),
            recall="What's the price of the Baratza Encore?",
            evidence=0,
        ),
        Topic(
            "early waking",
            (
                (
                    "Our two-year-old wakes up at five every morning, how can we shift that?",
                    "Move bedtime by 15 minutes every three days and keep the room fully dark. "
                    "Cap the nap at 90 minutes and end it before half past two.",
                ),
                (
                    "She still has two of them.",
                    "Drop the earlier one first: push it back ten minutes a day until lunch.",
                ),
                ("Won't that make her cranky?", "For about a week; bring dinner forward by half an hour meanwhile."),
                ("When do we give up?", "If nothing has moved after four weeks, see the paediatrician."),
            ),
            recall="By when should the toddler's nap end?",
            evidence=0,
        ),
        Topic(
            "slow build",
            (
                (
                    "Our GitHub Actions build takes 22 minutes, mostly npm install; how do I cache that?",
                    "Use actions/setup-node with cache: npm, keyed on package-lock.json, and call npm ci. "
                    "That cuts the install to about 90 seconds.",
                ),
                (
                    "Does this also work on self-hosted runners?",
                    "Yes, but the archive still travels to GitHub and back; a local volume for ~/.npm is faster.",
                ),
                (
                    "Why is the first run still slow?",
                    "A new key has nothing to restore; add restore-keys as a fallback.",
                ),
                ("Anything else worth trying?", "Split the tests into four shards with a matrix."),
            ),
            recall="Which file is the npm cache keyed on?",
            evidence=0,
        ),
        Topic(
            "toast",
            (
                (
                    "I have to give a toast at my sister's wedding, how long should it be?",
                    "Three minutes, about 400 words: one story, one thing you admire in the groom, and the toast itself.",
                ),
                ("I'm terribly nervous.", "Say it aloud five times beforehand and put four keywords on a card."),
                ("Can I joke about her ex?", "Leave him out; tell how she learned to drive instead."),
                ("Who speaks before me?", "Traditionally the parents, so ask them for their length."),
            ),
            recall="How many words should the wedding toast have?",
            evidence=0,
        ),
    ),
}
"""By language ten topics that have nothing to do with each other."""
