"""Three scripted conversations, in Chinese, in English and in both, with what the model must be sent for each turn.

They are made up. A turn's number is its place. What it ``recalls`` must stand on the wire when it is asked, what it
``excludes`` must not; what is in neither may.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["open", "same", "referring", "switch", "return"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One turn of a script.

    Attributes:
        kind: how it stands to what went before.
        user: what the user says.
        assistant: what the model answers.
        recalls: numbers of the turns that must be sent along.
        excludes: numbers of the turns that must not.
        evidence: a piece of an earlier answer that the question cannot be answered without, "" where there is none.
    """

    kind: Kind
    user: str
    assistant: str
    recalls: frozenset[int] = frozenset()
    excludes: frozenset[int] = frozenset()
    evidence: str = ""


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A script.

    Attributes:
        name: what it is called in reports.
        turns: its turns in order.
    """

    name: str
    turns: tuple[Turn, ...]

    @property
    def answers(self) -> dict[str, str]:
        """What the model answers, by the question."""
        return {turn.user: turn.assistant for turn in self.turns}


def _turns(*numbers: int) -> frozenset[int]:
    return frozenset(numbers)


BLOG_AND_KNEE_AND_CAKE = Conversation(
    name="chinese",
    turns=(
        Turn(
            kind="open",
            user="我有个写了八年的 WordPress 博客，想换成 Hugo，文章怎么导出来？",
            assistant="在后台装 wordpress-to-hugo-exporter 这个插件，然后到“工具”里点导出，会得到一个 zip。里面每篇文章是一个 "
            "Markdown 文件，图片在 uploads 文件夹里。文章多的话网页会超时，可以在服务器上用命令行跑 hugo-export-cli.php，"
            "几千篇也就两三分钟。评论不会跟着走，要留着就先导出成 comments.xml 存一份。",
        ),
        Turn(
            kind="same",
            user="导出来的文章里，图片链接全是旧域名，怎么批量替换？",
            assistant="在 content 目录里跑一行 sed：sed -i 's#https://www.laowang.example/wp-content/uploads#/img#g' *.md，"
            "再把 uploads 文件夹整个拷到 static/img。跑之前先 git commit 一次。缩略图的文件名带尺寸，比如 -300x200.jpg，"
            "用不到的可以删掉，能省一半空间。",
            recalls=_turns(0),
        ),
        Turn(
            kind="referring",
            user="这个要是换错了怎么还原？",
            assistant="因为事先提交过，git checkout -- content 就回到替换之前。只想退一篇的话，把 content 换成那篇文章的路径。",
            recalls=_turns(1),
        ),
        Turn(
            kind="switch",
            user="我妈最近膝盖疼，下楼梯更厉害，该挂什么科？",
            assistant="先挂骨科，大医院有运动医学科的话更对口。医生一般会让拍一张站着的 X 光片，必要时再做核磁。"
            "去之前记一下疼了多久、早上起来僵不僵、有没有肿。六十岁以上下楼梯疼，多半和软骨磨损有关，不用太慌。",
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="same",
            user="骨科拍片子之前要空腹吗？",
            assistant="拍 X 光和核磁都不用空腹，正常吃早饭就行。核磁要把假牙、手表和腰带摘掉，装过心脏起搏器要提前说。",
            recalls=_turns(3),
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="same",
            user="膝盖平时在家能做什么锻炼？",
            assistant="坐着把腿抬平，停五秒再放下，每条腿十五次，一天三组，练的是大腿前面的肌肉。靠墙静蹲先别做，蹲得太低反而压膝盖。"
            "散步可以，每次二十分钟，爬山和跳广场舞先停一停。睡前热敷一刻钟会舒服些。",
            recalls=_turns(3),
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="switch",
            user="换个话题，周末想给女儿烤个生日蛋糕，六寸的戚风要几个鸡蛋？",
            assistant="六寸用三个鸡蛋，每个带壳六十克左右。配上低筋面粉五十克、白糖四十五克、牛奶三十克、玉米油三十克。"
            "蛋白里加几滴柠檬汁，打到提起来是个小弯钩。烤箱先预热，一百五十度烤四十五分钟。",
            excludes=_turns(0, 1, 2, 3, 4, 5),
        ),
        Turn(
            kind="same",
            user="戚风烤出来中间总是塌，哪里出了问题？",
            assistant="最常见的是没烤透，用竹签扎一下，带出湿面糊就再加五分钟。其次是出炉没有马上倒扣，要扣着放到全凉再脱模。"
            "翻拌的时候转圈搅也会消泡。模具不要刷油，不然面糊爬不上去。",
            recalls=_turns(6),
            excludes=_turns(0, 1, 2, 3, 4, 5),
        ),
        Turn(
            kind="return",
            user="说回博客，旧域名的图片链接最后换成了哪个路径？",
            assistant="换成了 /img，图片本身放在 static/img 下面，Hugo 生成网站时会原样拷过去。",
            recalls=_turns(1),
            excludes=_turns(3, 4, 5, 6, 7),
            evidence="wp-content/uploads#/img#g",
        ),
        Turn(
            kind="same",
            user="Hugo 的网站放到哪里最省钱？",
            assistant="Cloudflare Pages 和 GitHub Pages 都不要钱，接上仓库，推一次就自动发布一次。国内访问慢的话，"
            "买个对象存储，一个月几块钱，不过域名要先备案。",
            recalls=_turns(8),
            excludes=_turns(3, 4, 5, 6),  # not 7: it asks for 哪里 and says 放到, as this question does
        ),
    ),
)

BIKE_AND_LEASE_AND_PIANO = Conversation(
    name="english",
    turns=(
        Turn(
            kind="open",
            user="I'd like to start commuting by bike, about nine miles each way with one nasty hill. What kind of bike should I buy?",
            assistant="For nine miles with a real hill, look at a flat-bar gravel bike with a wide cassette, say 11-42, and mounts "
            "for a rack and full fenders. Tires around 38 mm take potholes well. Disc brakes are worth it in the rain. A used "
            "one costs roughly 700 dollars; put 120 aside for lights and a good lock. If sweating at work bothers you, an "
            "e-bike doubles the price and takes the hill away.",
        ),
        Turn(
            kind="same",
            user="Which tire pressure would you run on a commuting bike with 38 mm tires? I weigh 180 pounds.",
            assistant="Start at 48 psi in the rear and 44 psi in the front, then drop two at a time until you feel the rim on "
            "a curb. Check it every Monday morning, tubes lose about five psi a week.",
            recalls=_turns(0),
        ),
        Turn(
            kind="referring",
            user="And is that still fine when the streets are wet?",
            assistant="Take out three or four psi in the wet, front and rear, for a bit more grip. Painted lines and metal "
            "covers stay slippery whatever you do.",
            recalls=_turns(1),
        ),
        Turn(
            kind="switch",
            user="My landlord wants to raise the rent in the middle of a fixed-term lease. Can he do so?",
            assistant="Usually not. A fixed-term lease locks the rent until its last day, unless a clause allows an increase "
            "or you sign an amendment. Read the sections called Rent and Modifications. Answer in writing, quote the end date, "
            "and keep paying the old amount on time. Your city's tenant union will read the contract for free.",
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="same",
            user="What happens when the lease runs out, does the landlord have to renew?",
            assistant="In most states it turns into a month-to-month tenancy on the same terms, and from then on the landlord "
            "can raise the rent with 30 days of written notice, 60 in some cities. Look for an automatic renewal clause.",
            recalls=_turns(3),
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="same",
            user="How do I get my whole security deposit back from the landlord?",
            assistant="Photograph every room on the day you hand over the keys, and compare with the move-in checklist. Fill nail "
            "holes, clean the oven, and leave a forwarding address in writing. He then has 21 days to send the deposit or an "
            "itemized list. Paint that has faded is normal wear and must not be deducted.",
            recalls=_turns(3),
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="switch",
            user="New topic: I'm forty-six and want to learn the piano. Digital or acoustic?",
            assistant="Digital, for a flat with neighbors. Get one with 88 fully weighted keys and a real stand; Roland's FP-30X "
            "and Yamaha's P-225 are the usual picks, both under 800 dollars. You can practice with headphones at midnight and "
            "it never needs tuning. An acoustic upright teaches finer touch, though a tuner has to come twice a year.",
            excludes=_turns(0, 1, 2, 3, 4, 5),
        ),
        Turn(
            kind="same",
            user="How many minutes should a beginner practice the piano each day?",
            assistant="Twenty-five, six days out of seven. Five for scales, fifteen for one hard passage, hands apart first, and "
            "five for something you already play well. Stop when your wrists feel tight.",
            recalls=_turns(6),
            excludes=_turns(0, 1, 2, 3, 4, 5),
        ),
        Turn(
            kind="return",
            user="Back to the bike: what rear tire pressure did you tell me to start with?",
            assistant="48 psi in the rear, 44 in the front, and three or four less when the streets are wet.",
            recalls=_turns(1),
            excludes=_turns(3, 4, 5, 6, 7),
            evidence="48 psi in the rear",
        ),
        Turn(
            kind="same",
            user="Which lock would you get for the bike downtown?",
            assistant="A mid-size U-lock rated Sold Secure Gold, through the frame and the rear wheel, and a cable for the front.",
            recalls=_turns(8),
            excludes=_turns(3, 4, 5, 6),  # not 7: it asks for 哪里 and says 放到, as this question does
        ),
    ),
)

KUBERNETES_AND_TOKYO_AND_CAT = Conversation(
    name="mixed",
    turns=(
        Turn(
            kind="open",
            user="我们的 Pod 老是 OOMKilled，memory limit 该怎么设？",
            assistant="先看 kubectl top pod 的峰值，limit 设成峰值的 1.3 倍左右，request 设成平时的用量。"
            "Java 服务还要加 -XX:MaxRAMPercentage=70，不然 heap 会顶到 limit。OOMKilled 的原因在 kubectl describe pod 的 Last State 里。",
        ),
        Turn(
            kind="same",
            user="Pod 重启之后之前的 log 怎么看？",
            assistant="kubectl logs 加上 --previous 就是上一个容器的日志。再早的要靠 Loki 之类的系统收集，默认只留一份。",
            recalls=_turns(0),
        ),
        Turn(
            kind="same",
            user="Pod 的 readiness probe 一直 fail，该先查什么？",
            assistant="先 kubectl describe pod 看 Events 里的状态码。常见的是端口写错，或者启动太慢：把 initialDelaySeconds 调到 30，"
            "或者另配一个 startupProbe。probe 的路径不要查数据库，不然数据库一慢，全部 Pod 都会被摘掉。",
            recalls=_turns(1),
        ),
        Turn(
            kind="switch",
            user="四月底想去东京玩五天，樱花 season 还赶得上吗？",
            assistant="四月底东京的樱花基本谢了，新宿御苑的八重樱能撑到二十日左右。想看樱花就坐 Shinkansen 去仙台或弘前，弘前城四月下旬正好满开。"
            "那几天是 Golden Week，酒店要提前两个月订。",
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="same",
            user="从东京坐 Shinkansen 去弘前看樱花，当天能来回吗？",
            assistant="公园慢慢走三个小时，晚上有 light-up。东京到新青森三小时二十分，再转车四十分钟，当天来回太赶，住一晚比较好。",
            recalls=_turns(3),
            excludes=_turns(0, 1, 2),
        ),
        Turn(
            kind="referring",
            user="这个大概要花多少钱？",
            assistant="来回车票三万五千日元左右，住一晚 business hotel 一万二，公园白天不要钱，light-up 的门票五百。",
            recalls=_turns(4),
        ),
        Turn(
            kind="switch",
            user="换个话题，猫咪绝育之后几天能拆 elizabethan collar？",
            assistant="一般戴十到十四天，等伤口长好、医生看过再拆。母猫伤口在肚子上，可以换成手术服。每天看一眼有没有红肿、渗液。",
            excludes=_turns(0, 1, 2, 3, 4, 5),
        ),
        Turn(
            kind="same",
            user="猫咪伤口有点红，要不要涂 iodine？",
            assistant="轻微发红前三天是正常的，用稀释到茶色的 povidone-iodine 轻轻擦一次就够。流脓、发热或者不吃东西就马上去医院。",
            recalls=_turns(6),
            excludes=_turns(0, 1, 2, 3, 4, 5),
        ),
        Turn(
            kind="return",
            user="回到 Pod 的问题，memory limit 是峰值的几倍来着？",
            assistant="1.3 倍左右，Java 服务记得同时加 MaxRAMPercentage=70。",
            recalls=_turns(0),
            excludes=_turns(3, 4, 5, 6, 7),
            evidence="limit 设成峰值的 1.3 倍",
        ),
    ),
)

CONVERSATIONS = (BLOG_AND_KNEE_AND_CAKE, BIKE_AND_LEASE_AND_PIANO, KUBERNETES_AND_TOKYO_AND_CAT)
