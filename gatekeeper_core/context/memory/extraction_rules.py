"""The wordings by which a clause says something worth knowing about its writer, in Chinese and English.

Each wording is looked for at the beginning of a clause only, in the first person and the present: "I like tea" is one,
"he said I like tea", "I liked tea" and "should I like tea" are none. Written for this library, drawn from no data set.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from gatekeeper_core.selection.anchors import count_terms, folded
from gatekeeper_core.text import LazyPattern

if TYPE_CHECKING:
    from gatekeeper_core.storage.base import MemoryCategory

__all__ = [
    "ASKED_TO_REMEMBER",
    "CLAUSE_BORDER",
    "FORGET",
    "HYPOTHETICAL",
    "LATER_HYPOTHETICAL",
    "NOTHING_TO_FORGET",
    "OPENER",
    "REMEMBER",
    "REPORTED",
    "SECRET",
    "TASK",
    "Found",
    "read_clause",
]


class Found(NamedTuple):
    """What a clause is about, and the question that it answers, or None."""

    category: MemoryCategory
    key: str | None


def read_clause(clause: str) -> Found | None:
    """Return what a clause says about its writer, or None.

    Args:
        clause: from its first word on; only its beginning is compared.

    >>> read_clause("I live in Paris"), read_clause("I like green tea").key, read_clause("Nice to meet you")
    (Found(category='fact', key='residence'), 'like:green tea', None)
    >>> read_clause("我们的项目用 Redis 做缓存").category, read_clause("我对花生过敏").key
    ('project_context', 'allergy:花生')
    """
    plain = clause.replace("’", "'")
    for category, template, wording in _RULES:
        if match := wording.match(plain):
            key = template
            if "*" in template:
                named = _TRAILING.sub("", _LEADING.sub("", folded(match["o"]).strip(" \t"), count=1))
                by_terms = named.isascii() and template.endswith(":*")
                short = " ".join(count_terms(named) if by_terms else named.split())
                key = template.replace("*", short[:_MAX_KEY]) if short else ""
            return Found(category, key or None)
    return None


_MAX_KEY = 60
_LEADING = LazyPattern(r"(?:(?:to |eating |drinking |playing |watching )|(?:吃|喝|看|听|玩|用|去|做))")
_TRAILING = LazyPattern(r"[ .!。！~～了呢啊呀哦吧的]{1,8}\Z|(?: very much| a lot| so much)\Z")

CLAUSE_BORDER = LazyPattern(
    r"(?<!from now on)(?<!going forward)(?<!in future)(?<!in the future)(?<!以后)(?<!今后)(?<!从现在起)(?<!从现在开始)"
    r"[,，;；、。.!！:：] ?|(?<=\s)(?:and|but|because|since|so|also|plus)\s|而且|但是|不过|并且|另外|还有|同时|所以|因为",
    re.IGNORECASE,
)
"""Behind it another clause may begin."""

OPENER = LazyPattern(
    r"(?:(?:well|so|and|but|also|actually|btw|by the way|fyi|hi|hello|hey|ok|okay|yes|yeah|no|oh|thanks|besides|plus"
    r"|just so you know|as you know|for the record|to be honest|honestly|note that|please note that|you know"
    r"|since|because|as|given that)\b[,:!.]? {0,2}"
    r"|(?:其实|对了|另外|还有|而且|但是|不过|因为|由于|你好|您好|嗯|好的|哦|顺便说一下|顺便|说实话|老实说|话说|总之|所以|既然|首先|其次)[,，:：!！]? ?"
    r"|[-*•] {1,3}|\d{1,2}[.)、] {0,2})",
    re.IGNORECASE,
)
"""What may stand before a clause without changing what it says."""

# --- what a clause is not taken for ---------------------------------------------------------------------------------

HYPOTHETICAL = LazyPattern(
    r"\b(?:if|unless|suppose|supposing|assume|assuming|imagine|pretend|whether|hypothetically|let's say|what if|as if"
    r"|as though|when i was|back when|used to|for example|for instance|e\.g)\b"
    r"|如果|要是|假如|假设|假使|倘若|若是|万一|假装|想象|除非|是否|以前|小时候|曾经|当年|比如|例如|比方|不是说|并非",
    re.IGNORECASE,
)
"""Before a clause: it is supposed, not said."""

LATER_HYPOTHETICAL = LazyPattern(r"的话|\bif i (?:were|was|had|could|did)\b|\bwould\b.{0,40}\bif\b", re.IGNORECASE)
"""Inside a clause: the same."""

REPORTED = LazyPattern(
    r"(?<!\bi )(?<!\bi already )\b(?:said|says|say|told|tells|asked|asks|wrote|writes|thinks|thought|believes|claims"
    r"|claimed|replied|answered|quoting|according to|insists|shouted)\b"
    r"|(?<!我)(?<!我想)(?<!实话)(?<!老实)(?<!你)(?<!顺便)(?<!话)(?:说(?!实话|真的|一下|起)|表示|问道?|写道|认为|告诉|回答|声称|提到)",
    re.IGNORECASE,
)
"""Before a clause: somebody else says it."""

TASK = LazyPattern(
    r"\b(?:translate|translation|rewrite|rephrase|paraphrase|proofread|summari[sz]e|polish|role-?play|pretend|imagine"
    r"|(?:correct|edit|fix|check|improve) (?:the|this|my|these) (?:text|grammar|sentence|paragraph|email|letter|essay|draft)"
    r"|write (?:me )?(?:an?|the|some|my) [\w ]{0,24}(?:story|poem|essay|letter|e-?mail|song|dialogue|script|bio|novel|scene"
    r"|speech|message|sentence)|in the (?:voice|style) of"
    r"|following (?:text|sentences?|paragraph|email|message|conversation|dialogue|story|code|log|quote)"
    r"|here(?:'s| is) (?:the|an?|my|his|her|their) (?:text|email|letter|essay|article|transcript|log|story|paragraph"
    r"|conversation|draft|review))\b"
    r"|翻译|改写|润色|校对|造句|扮演|假装|写(?:一|个|篇|首|封|段)|以下(?:是|内容|文字|对话)|下面(?:是|这段|这句|的)|例句|原文|总结(?:一下)?(?:下面|以下|这)",
    re.IGNORECASE,
)
"""From here on a message holds a text to work on, not what its writer says of themselves."""

SECRET = LazyPattern(
    r"\b(?:pass(?:word|phrase|code|wd)|api[ _-]?keys?|secret[ _-]?keys?|access[ _-]?tokens?|private[ _-]?keys?|credit card"
    r"|debit card|card number|cvv|cvc|ssn|social security|pin (?:code|number|is))\b"
    r"|密码|口令|密钥|私钥|令牌|身份证号?|银行卡|信用卡|卡号|验证码|社保号",
    re.IGNORECASE,
)
"""What is remembered only where the user asks for it in so many words."""

# --- asked for in so many words -------------------------------------------------------------------------------------

_POLITE = r"(?:(?:please|now|always|also|and|just|hey),? ){0,3}"

REMEMBER = LazyPattern(
    rf"{_POLITE}(?:(?:remember|memori[sz]e|keep in mind|bear in mind|don't forget|do not forget|make a note|take note)\b"
    r"(?!,? (?:when|how|what|why|who|where|me\b|the time|last|our last|i asked|asking|we talked)| ?\?)"
    r"(?: (?:this|the following|for (?:later|me|next time|the future)))?(?:,? that|:)?|for (?:the|your) (?:record|memory)[,:]) {0,3}"
    r"|(?:请|麻烦|帮我|给我|你|您|务必|一定要|要|也|先|那){0,3}(?:记住|牢记|记一下|记下来?|记好|别忘了|不要忘记|不要忘了)(?![了啦过])(?:一下|哦|啊|吧)?[,，:：]? {0,2}"
    r"|(?:请|以后|你|您|要){0,2}记得(?![吗不没啊呀呢哦吧是有这那,，。!！\s]|上次|之前|以前|当时|那|我们|我说|我问)[,，:：]? {0,2}",
    re.IGNORECASE,
)
"""A request to remember what follows."""

ASKED_TO_REMEMBER = LazyPattern(
    r"(?:please )?(?:can|could|would|will) you (?:please )?(?:remember|note|memori[sz]e|keep in mind) that "
    r"|(?:你|您)?(?:能|可以|能不能|可不可以)(?:帮我)?(?:记住|记一下)[,，:：]? ?(?=我)",
    re.IGNORECASE,
)
"""The same, in the form of a question."""

FORGET = LazyPattern(
    rf"(?:{_POLITE}|(?:can|could|would) you (?:please )?|you (?:can|may|should) )"
    r"(?:forget (?:about |everything about |all about |the fact that |that )?"
    r"(?P<a>(?:my|our|i|i'm|i've|we|me|that i|where i|how i|when i)\b[^,;.!?]{0,200})"
    r"|(?:delete|erase|remove|clear|drop) (?P<b>[^,;.!?]{1,120}) from (?:your |the )?memory"
    r"|(?:don't|do not|never|stop) (?:remember|remembering|memori[sz]e|memori[sz]ing) (?P<c>[^,;.!?]{1,200})"
    r"|(?:don't|do not|never|stop) (?:stor|sav|keep|record|not)(?:e|ing)? (?P<d>(?:my |about me|that i |what i )[^,;.!?]{1,200}))"
    r"|(?:请|麻烦|帮我|你|您|可以|现在|赶紧|就|那){0,3}(?:"
    r"(?:忘(?:掉|记|了)(?=[^,，;；。.!！?？]{0,40}(?:我|咱|\bmy\b))|别再?记(?!错|混|仇|恨)(?:住|着|录|下)?|不要再?记(?!错|混|仇|恨)(?:住|录|下)?|不用再?记(?:住|录)?|无需记住)(?:关于|有关)?"
    r"(?P<e>[^,，;；。.!！?？]{1,100})"
    r"|(?:把|将)(?P<f>[^,，;；。.!！?？]{1,60}?)(?:忘掉|忘了|忘记|从(?:你的)?记忆(?:里|中)?(?:删掉|删除|抹掉|清除))"
    r"|(?:删掉|删除|清除|抹掉)(?:关于|有关)?(?P<g>[^,，;；。.!！?？]{1,60}?)的?(?:记忆|记录))",
    re.IGNORECASE,
)
"""A request to forget; its group is what."""

NOTHING_TO_FORGET = LazyPattern(
    r"(?:it|this|that|these|those|them|what i (?:just )?said|i (?:just )?said (?:that|it|so|anything)|everything i said|the above|all (?:of )?that)\b.{0,20}\Z"
    r"|(?:吧|了|它|这个|那个|这些|那些|这件事|那件事|我?(?:刚才|上面|前面|之前).{0,10}|我说.{0,10})\Z",
    re.IGNORECASE,
)
"""What is to be forgotten names nothing: the talk goes on, and no memory is meant."""

# --- the rules ------------------------------------------------------------------------------------------------------

_I_AM = r"i(?:'m| am)"
_HOW = r"(?:(?:really|also|still|usually|always|generally|personally|mostly|currently|now|just|actually|truly|do|very) ){0,2}"
_THING = r"(?!(?:it|this|that|these|those|them|him|her|you|your|what|how|the (?:idea|way|look|sound|first|second|last|other))\b)(?P<o>.+)"
_ZH_HOW = r"(?:平时|一直|特别|最|很|非常|比较|真的|也|都|现在|目前|通常|一般|总是|还|更|超级?|挺|就|个人){0,3}"
_LANGUAGES = (
    r"english|chinese|mandarin|cantonese|french|german|spanish|japanese|korean|italian|russian|portuguese|arabic|dutch"
)
_SKILLS = (
    r"python|java|javascript|typescript|rust|golang|go|c\+\+|c#|sql|html|css|bash|linux|kotlin|swift|ruby|php|scala|haskell"
    rf"|docker|kubernetes|react|django|{_LANGUAGES}"
)
_PROJECT = (
    r"project|app|application|team|stack|tech stack|repo|repository|codebase|service|backend|frontend|database|server|api"
    r"|pipeline|website|product|startup|company|cluster|infrastructure|package manager|customer|client|test suite|linter"
    r"|framework|(?:main|default) branch|port|cache|queue|budget|deadline|release date|launch date|deployment"
)
_PROJECT_VALUE = r"deadline|release date|launch date|(?:main|default) branch|package manager|budget|tech stack"
_BROKEN = (
    r"(?! (?:not|n't|broken|failing|down|slow|wrong|too|giving|throwing|crashing|an? (?:error|problem|issue|bug))\b)"
)
_OWN = (
    r"birthday|date of birth|(?:home |postal |e-?mail )?address|e-?mail|(?:phone|mobile)(?: number)?|employer|hometown|time ?zone"
    r"|native language|mother tongue|height|weight|blood type|nationality|job|profession|occupation|age|hobby|hobbies|major"
    r"|username|handle|pronouns|shoe size"
)
_PEOPLE = (
    r"wife|husband|partner|girlfriend|boyfriend|son|daughter|kids?|children|mother|father|mom|mum|dad|sister|brother|dog|cat"
    r"|pet|boss|manager"
)
_NOT_A = (
    r"(?!(?:bit|little|lot|tad|fan|couple|bad|idiot|fool|mess|wreck|big|huge|few|while|step|day|week|minute|genius)\b)"
)
_ZH_PROJECT = (
    r"项目|系统|服务器?|后端|前端|数据库|缓存|代码库?|仓库|产品|应用|网站|平台|接口|架构|技术栈|集群|流水线|主分支|截止日期|上线时间|交付时间|预算|客户"
    r"|测试环境|生产环境|预发布?环境|端口"
)
_ZH_PROJECT_VALUE = r"截止日期|上线时间|交付时间|预算|主分支|技术栈"
_ZH_USES = r"(?:都|目前|现在|主要|统一|默认|正在){0,2}(?:是(?!不是|什么)|用的?是?(?!户)|使用|采用|基于|跑在|部署在|运行在|放在|监听|叫|需要|要求|必须|支持|定在|为|托管在|依赖|迁移到)"
_ZH_OWN = (
    r"生日|家庭住址|住址|地址|电子邮箱|邮箱|邮件地址|电话号码|电话|手机号码|手机号?|微信号?|身高|体重|血型|星座|国籍|职业|工作|专业|学校|公司|单位|爱好"
    r"|兴趣|母语|时区|年龄|民族|鞋码|尺码"
)
_ZH_PEOPLE = r"老婆|妻子|太太|老公|丈夫|男朋友|女朋友|儿子|女儿|孩子|爸爸|妈妈|父亲|母亲|爸|妈|哥哥|姐姐|弟弟|妹妹|狗|猫|宠物|老板|领导"
_ZH_NUMBER = r"[\d一二两三四五六七八九十几]"

_WORDINGS: tuple[tuple[MemoryCategory, str, str], ...] = (
    ("user_preference", "favourite *", r"my (?:favou?rite|preferred) (?P<o>[\w -]{1,40}?) (?:is|are) (?!not\b)"),
    ("user_preference", "favourite *", r"我(?:最喜欢|最爱|偏爱)的(?P<o>[^是,，。]{1,12})是(?!不是|什么)"),
    (
        "user_preference",
        "like:*",
        rf"(?:i {_HOW}(?:like|love|enjoy|prefer|adore|hate|dislike|detest)"
        rf"|i {_HOW}(?:don't|do not|can't|cannot) {_HOW}(?:like|love|enjoy|stand|bear|eat|drink)"
        rf"|{_I_AM} {_HOW}(?:a (?:big |huge |great )?fan of|fond of|keen on|into)) {_THING}",
    ),
    (
        "user_preference",
        "like:*",
        rf"我{_ZH_HOW}(?:喜欢|喜爱|偏好|偏爱|热爱|爱(?=[吃喝看听玩])|习惯用?|倾向于?|讨厌|厌恶|反感|受不了)"
        r"(?!你|您|[他她它这那]|吗|上[你他她它])(?P<o>[^,，。;；!！]+)",
    ),
    (
        "user_preference",
        "like:*",
        rf"我{_ZH_HOW}(?:并|真的|从来?|都)?不(?:太|怎么|大|是很|是太|再)?(?:喜欢|爱|习惯|(?=[吃喝]))(?!你|您)(?P<o>[^,，。;；!！]+)",
    ),
    (
        "user_preference",
        "diet",
        rf"{_I_AM} {_HOW}(?:an? )?(?:strict )?(?:vegan|vegetarian|pescatarian|lactose[- ]intolerant|gluten[- ]free)\b"
        r"|我(?:是|一直|平时|都|只)?(?:吃素|吃全素|素食主义者|素食者|是?清真)",
    ),
    (
        "user_preference",
        "reply language",
        rf"{_POLITE}(?:from now on,? )?(?:only |always )?(?:answer|reply|respond|speak|talk|write|explain)"
        rf"(?: to me| me| back| everything| only)? in (?:{_LANGUAGES})\b"
        r"|(?:请|麻烦|以后|今后|从现在起|从现在开始|接下来|每次|你|您|都|一律|尽量|始终|务必|只){0,4}[用以]"
        r"(?:简体|繁体)?(?:中文|英文|英语|日语|日文|韩语|韩文|法语|德语|西班牙语|俄语|汉语|普通话|粤语)来?(?:跟我)?"
        r"(?:回答|回复|答复|交流|沟通|说话|写|解释|输出|聊)",
    ),
    (
        "user_preference",
        "",
        r"i(?:'d| would) (?:rather|prefer) .{0,60}\b(?:answers?|repl(?:y|ies)|responses?|explanations?|examples?|code|tone|style|language|format"
        r"|bullet points|tables?)\b"
        rf"|{_POLITE}(?:from now on|going forward|in (?:the )?future),? (?!i\b|we\b)"
        rf"|{_POLITE}(?:never|always) (?:use|write|answer|reply|respond|give|include|format|show|add|keep|call|ask|explain|start"
        r"|end|put|run|speak|be|make|avoid|quote|cite|send|tell)\b"
        r"|(?:请|麻烦|你|您)?(?:以后|今后|从现在起|从现在开始|从今以后|往后|每次)(?:你|您|请|都|一律|尽量|不要|别|务必|回答|回复|代码|写|用|给我|叫我|称呼)",
    ),
    (
        "user_preference",
        "form of address",
        r"(?:please |you can |just ){0,2}call me (?!back|later|when|at\b|if|on\b|an? )"
        r"|(?:请|以后|你|您|可以|就){0,3}(?:叫我|称呼我)(?!起床|去|来|做|吃|的|们)",
    ),
    (
        "skill",
        "",
        r"i know how to |i can (?:speak|write|read|code|program|play|cook|sing|dance|swim|drive|ski)\b"
        rf"|i {_HOW}speak (?!to\b|with\b|of\b|for\b)|i {_HOW}know (?:some |basic |a (?:bit|little) of )?(?:{_SKILLS})\b"
        rf"|{_I_AM} {_HOW}(?:pretty |quite |not very )?(?:good|great|fluent|proficient|skilled|experienced|familiar|comfortable"
        r"|well[- ]versed|new|an expert) (?:at|in|with|to) (?!it\b|this\b|that\b|you\b|here\b)"
        rf"|{_I_AM} (?:an? )(?:complete |total |absolute )?(?:beginner|expert|novice|native speaker)\b"
        r"|i have [\w +-]{0,24}years?(?: of)? [\w +#.-]{0,32}experience"
        r"|i(?:'ve| have) been (?:coding|programming|playing|learning|studying|working with|using) "
        rf"|{_I_AM} {_HOW}(?:learning|studying) (?!about\b)"
        rf"|我{_ZH_HOW}(?:会(?:说|讲|弹|编程|写代码|游泳|开车|下棋|跳舞|画画|做饭|拉|唱|滑雪| ?[A-Za-z])|擅长|精通|熟悉|熟练|掌握了?|懂(?!了|你|得你))"
        rf"|我(?:已经|也)?(?:有{_ZH_NUMBER}{{1,3}}多?年.{{0,20}}经验|[学写做用弹练教]了?.{{0,12}}{_ZH_NUMBER}{{1,3}}多?年)"
        r"|我(?:正在|正|刚开始|最近在|在)学(?!校|院)|我是.{0,12}(?:新手|初学者|专家|高手)",
    ),
    (
        "fact",
        "name",
        r"my (?:full |first |last |real )?name(?:'s| is) (?!not\b)|i(?:'m| am) called "
        r"|我(?:叫做?|名叫|的(?:名字|姓名|全名)(?:是|叫)|姓)(?!你|您|他|她|它|不|什么|个|了|外卖|车|啥)",
    ),
    (
        "fact",
        "residence",
        rf"(?:i {_HOW}live|{_I_AM} {_HOW}(?:living|based)) (?:in|at|near) (?!fear|hope|peace|a hurry)"
        r"|i(?:'ve| have)? (?:just |recently |now )?moved to |i no longer live (?:in|at) |i don't live (?:in|at) .{1,60} any ?more"
        r"|我(?:现在|目前|家|一直)?(?:住在|住(?!院|过|了)|定居在?|家在|常住|居住在|现居|搬到了?|搬去了?|搬来了?)"
        r"|我(?:已经|现在|家)?不(?:再)?住在?.{1,30}了",
    ),
    (
        "fact",
        "origin",
        rf"{_I_AM} {_HOW}(?:originally )?from |i (?:grew up|was born) in (?!\d)"
        r"|我(?:来自|老家[在是]|出生[在于](?!\d)|的?籍贯是)|我是[^,，。]{1,8}人(?=[,，。!！\s]|\Z)",
    ),
    ("fact", "job", r"i (?:now |currently )?work as "),
    (
        "fact",
        "employer",
        r"i (?:now |currently )?work (?:at|for) (?!home\b|night\b|the moment\b|it\b|me\b|you\b|now\b)",
    ),
    (
        "fact",
        "age",
        rf"{_I_AM} \d{{1,3}}(?: years?[- ]old)?[ .!]{{0,3}}(?:\Z|,|and\b)"
        rf"|我(?:今年|已经|现在){{0,2}}{_ZH_NUMBER}{{1,3}}岁",
    ),
    ("fact", "allergy:*", rf"{_I_AM} {_HOW}allergic to (?P<o>[^,;.!]+)"),
    ("fact", "allergy:*", r"我(?:也|还)?对(?P<o>[^,，。]{1,12}?)(?:会|严重|有点|轻微|也|都)?(?<!不)过敏"),
    ("fact", "my *", rf"my (?P<o>{_OWN}) (?:is|are|'s) (?!not\b|what\b|a secret\b)"),
    ("fact", "my *", rf"我的?(?P<o>{_ZH_OWN})(?:是|在|为|[:：])(?!不是|什么|哪)"),
    (
        "fact",
        "",
        rf"my (?:{_PEOPLE})(?:'s name is|'s birthday is|s?'? names are| is called| is named| is allergic to| is an? | is \d| works"
        r"| lives| likes| loves| hates)\b"
        r"|i have (?:an?|one|two|three|four|five|\d{1,2}) [\w ,-]{0,24}?(?:sons?|daughters?|kids?|child|children|dogs?|cats?|pets?"
        r"|sisters?|brothers?|wife|husband|twins)\b"
        rf"|{_I_AM} (?:married|single|divorced|engaged|retired|pregnant|left-handed|colou?r[- ]?blind)\b"
        r"|i have (?:an? )?[\w ]{0,24}(?:allergy|diabetes|asthma|epilepsy)\b|i (?:own|drive) an? "
        rf"|{_I_AM} an? {_NOT_A}[a-z]"
        rf"|我(?:家)?(?:里)?(?:有|养了?){_ZH_NUMBER}{{1,2}}[个只条位名头匹].{{0,10}}?(?:儿子|女儿|孩子|小孩|宝宝|狗|猫|宠物|哥哥|姐姐|弟弟|妹妹|龟|鸟|鱼|鼠|兔)"
        rf"|我(?:家|的)?(?:{_ZH_PEOPLE})(?:的名字)?(?:叫|名叫|是(?!不是|谁|说|想)|今年|对.{{1,12}}过敏|的生日|喜欢|住在|在.{{1,12}}(?:工作|上班|上学|读书))"
        r"|我(?:现在|目前|一直)?(?:在[^,，。]{1,20}?(?:工作|上班|任职|读书|上学|实习)|从事)"
        r"|我是(?:一名|一位|一个|名|位|个)(?!好|人才|傻|笨|错|问题)|我是[^,，。不]{0,12}?(?:师|员|学生|研究生|博士|护士|家长|司机|警察|画家|作家|科学家|艺术家|工作者|医生|经理|总监|主管|老板"
        r"|创始人|爸爸|妈妈)(?=[,，。!！\s]|\Z)"
        r"|我(?:已经|已|还是?|目前)?(?:结婚了?|已婚|未婚|单身|离婚了?|退休了?|怀孕了?|订婚了?)",
    ),
    ("project_context", "project *", rf"(?:our|my|the|this) (?P<o>{_PROJECT_VALUE}) (?:is|are) {_BROKEN}"),
    ("project_context", "project *", rf"(?:我们|咱们|我|本)?的?(?:项目)?的?(?P<o>{_ZH_PROJECT_VALUE}){_ZH_USES}"),
    (
        "project_context",
        "",
        rf"(?:our|my|the|this) (?:current |main |whole |new )?[\w-]{{0,20}} ?(?:{_PROJECT}) (?:is|are|uses?|runs?|has|have|lives?"
        rf"|needs|must|requires?|listens?|supports?|targets?|depends?|consists|will be|belongs|deploys?)\b{_BROKEN}"
        rf"|we(?:'re| are)? {_HOW}(?:use|using|run|running|deploy|deploying|build|building|host|hosting|store|ship|target|support"
        r"|develop|developing|migrating|maintain|rely on|depend on)\b(?! (?:out|into|it\b|that\b|this\b))"
        rf"|{_I_AM} {_HOW}(?:working on|building|developing|maintaining|responsible for) (?!it\b|this\b|that\b)"
        rf"|(?:我们|咱们|我|本|这个)(?:的|团队|公司|部门|这个|现在的|目前的){{0,2}}(?:{_ZH_PROJECT}){{1,2}}(?:的.{{1,8}}?)?{_ZH_USES}"
        rf"|(?:项目|系统|后端|前端|数据库|仓库|代码){_ZH_USES}"
        r"|(?:我们|咱们)(?:团队|公司|项目|组|这边)?(?:都|目前|现在|主要|统一|一直|正在|默认){0,2}(?:用(?!户|不)|使用|采用|基于|部署在|开发|维护|跑在|迁移到|遵循)"
        r"|我(?:正在|在|目前在|现在在|最近在|正)(?:做|开发|写|维护|搭建|设计|负责).{0,30}?(?:项目|系统|应用|平台|网站|服务|工具|软件|小程序|游戏|框架|产品)",
    ),
)
"""Category, key template, wording; the first that matches counts. ``*`` in a template is what the group ``o`` matched."""

_RULES = [(category, key, LazyPattern(wording, re.IGNORECASE)) for category, key, wording in _WORDINGS]
