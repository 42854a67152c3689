"""Word lists of the selection, as data: function words, characters, and the cues that steer the gate.

Every list is general language, written for this library; none is drawn from a data set.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gatekeeper_core.data_files import words


class Wordings(NamedTuple):
    """A group of wordings with one meaning.

    Attributes:
        chinese: wordings that are found anywhere in a text, separated by spaces.
        english: alternatives of a pattern, found as whole words.
        begins: the words that ``english`` may begin with, separated by spaces; of a script without spaces, characters.
            The pattern is tried only on a text that holds one of them, or a first character of ``chinese``.
    """

    chinese: str
    english: str
    begins: str


@cache
def word_set(name: str) -> frozenset[str]:
    """Return a list of ``data/words.tsv`` by its name."""
    return frozenset(words("words.tsv", name))


ENGLISH_STOP_WORDS = word_set("stop words")
"""English function words: never anchors."""

HAN_PARTICLES = frozenset("".join(words("words.tsv", "Han particles")))
"""Chinese particles: a character pair that holds one is no anchor."""

HAN_LIGHT = frozenset("".join(words("words.tsv", "Han light")))
"""Chinese function characters: a pair that holds one weighs less."""

GENERIC_WORDS = word_set("generic words")
"""English words that hardly tell one topic from another: numbers, units, times, plain verbs and adjectives."""

HAN_GENERIC = HAN_LIGHT.union(*words("words.tsv", "Han generic"))
"""Chinese characters of which a pair of two tells hardly any topic: numerals, units, plain verbs."""

KANA_PARTICLES = frozenset("".join(words("words.tsv", "kana particles")))
"""Hiragana that mostly carry grammar: a pair made of two of them is no anchor."""

REFERRING = Wordings(
    "这个 那个 这些 那些 它 上面 上述 前面 刚才 刚刚 继续 接着说 接着讲 展开 详细说 细说 再说说 再讲讲 还有呢 然后呢 为什么呢 "
    "第一点 第二点 第三点 第一种 第二种 第三种 后者 前者 這個 那個 這些 剛才 剛剛 繼續 展開 "
    "それ これ さっき 先ほど 上記の 続けて 続きを もっと詳しく もう少し詳しく 그거 그것 그건 이것 이건 아까 방금 계속해 자세히",
    "this|these|those|it|its|above|earlier|previously|continue|continuing|go on|keep going|carry on|expand|elaborate"
    "|same|tell me more|say more|more details?|more about that|and then|what else|the former|the latter"
    "|the (?:previous|first|second|third|last) (?:one|point|option|method|suggestion)",
    "this the these those it its above earlier previously continue continuing go keep carry expand elaborate "
    "same tell more say and what",
)
"""Words that point back; of ``that`` its neighbours decide, see ``THAT_BEFORE``. Source: specification 3.2, extended."""

PRONOUNS = Wordings(
    "她 他们 她们 那里 那边 那儿 这里 这边 这儿 其中 这样 那样 这种 那种 他們 她們 那裡 那邊 這裡 這邊 這樣 那樣 這種 那種 "
    "そこで そこの あそこ そんな こんな 彼女 거기 저기 그런 이런",
    "(?<![其吉])他(?!人|乡)|he|she|they|him|her|them|his|their|theirs"
    "|the [a-z]+ ones?(?! (?:who|that|which|day)(?![a-z]))"
    "|(?<!is )(?<!are )(?<!was )there(?! (?:is|are|was|were|will|has|have)(?![a-z]))(?!')",
    "he she they him her them his their theirs the there",
)
"""Words for persons and places, which mostly stand for something said before. Source: ours."""

NOT_REFERRING = Wordings(
    "其它 其他 吉它 这个月 这个星期 这个礼拜 这个周末 这个周 这个季度 这个世界 这个时代 这个学期 这个春天 这个夏天 这个秋天 这个冬天 "
    "这个暑假 这个寒假 这个假期 这个春节 这个国庆 这些天 这些年 那些年 那个时候 那个年代 继续教育 继续医学教育 "
    "画展开 花展开 车展开 书展开 漫展开 影展开 展开幕 展开放 展开馆 网上面 线上面 晚上面 早上面 以上面 街上面 马上面 海上面积 "
    "これから これまで それぞれ それから 這個月 這個星期 這個週末 繼續教育",
    "this (?:morning|afternoon|evening|week|weekend|month|quarter|year|spring|summer|autumn|fall|winter|time|season|term"
    "|monday|tuesday|wednesday|thursday|friday|saturday|sunday|century|decade)"
    "|these days|those days|those (?:who|of us|of you)|above all|earlier than|earlier this|continuing education"
    "|continue education|same day|same-(?:origin|site|sex|day)|expand(?:ing)? an?(?! (?:bit|little|lot))"
    "|what (?:time|day|date|month|year) is it|how long does it take|how much does it cost to|how is it going"
    "|how's it going|what is it like|what's it like"
    "|is it (?:possible|ok|okay|safe|legal|illegal|rude|true|normal|common|worth|better|going to rain|rain(?:ing)?|snow(?:ing)?)"
    "|(?:is it|it is|it's|was it|it was) (?:so |very |really |too )?(?:hard|difficult|easy|nice|good|great|bad|fun|rude"
    "|cheaper|faster|important|possible|necessary|likely|time) (?:to|that|for)"
    "|(?:does )?it(?:'s| is| was| will)? (?:rains?|raining|snows?|snowing|seems|depends|turns out|takes|possible|important"
    "|likely)|got it|i get it|it department|it support|it is time"
    "|all the same|at the same time|same here|same to you",
    "this these those above all earlier continuing continue same expand i what is it how does how's what's "
    "it's was got at expanding",
)
"""Wordings that hold a referring word and do not point back; they are taken out before the search. Source: ours."""

NAMED_THING = r"(?<![a-z'])(?:an?|the|my|our|your|his|her|their)(?: [a-z]+)? [a-z]{3}"
"""How an English sentence names a thing ("the lease ends"), as a pattern. Source: ours."""

NEW_THING = r"(?<![a-z'])an? [a-z]{3}|一[个個部家本种種款只隻条條篇首张張座件台段份]"
"""How a text names a thing for the first time ("a yacht", 一部电影), as a pattern. Source: ours."""

REACTION = (
    r"(?:(?:oh|wow|ok|okay|yes|yeah|well|haha|lol|ah|aw|aww|no) ?[,.!]? )?(?:(?:that|this|it)"
    r"(?:'s| is| was| sounds| must be| seems| looks| would be| happens)"
    r"(?: (?:so|very|really|pretty|quite|too|just|not|all|super))?(?: [a-z]+)?"
    r"|i (?:(?:also|do|did|do not|don't|really) )?(?:like|love|hate|enjoy|know|agree with|understand) (?:that|this|it))"
    r"(?: (?:to hear|to know|as well|too|though|then|indeed|either))? ?[.!,](?![a-z0-9])"
)
"""An opening that only comments on what was said ("that is great, ..."), as a pattern. Source: ours."""

EXPLICIT_SWITCH = Wordings(
    "换个话题 换一个话题 换下话题 换话题 聊点别的 说点别的 谈点别的 聊别的 说别的事 聊个别的 问个别的 问点别的 "
    "新话题 另一个话题 另外一个话题 先不说这个 不说这个了 不聊这个了 先把这个放 先把这个放一放 先把这个放一边 这个先放 这个先放一放 这个先放一边 先放一放 换个问题 跟这个无关 与此无关 "
    "無關的問題 換個話題 聊點別的 話は変わ 話を変え 話題を変え 別の話",
    "(?:聊聊|说说)别的(?=[吧，,。！!]|$)|주제를 바꿔|화제를 바꿔|다른 (?:얘기|이야기|질문)|"
    "(?<!create a )(?<!add a )(?<!make a )new topic(?! (?:in|on|to|for|with|from|called|named|name|and|via|using)(?![a-z]))"
    "|(?:another|a different|different) (?:topic|subject|matter)(?! (?:line|name|in|from|than)(?![a-z]))|(?:different|separate) question(?!, or )"
    "|change (?:the |of )?(?:topics?|subjects?)"
    "|changing (?:the )?(?:topic|subject)|switch(?:ing)? (?:topics?|subjects?|gears)|something (?:completely |totally |entirely )?"
    "(?:else|different) now|talk about something else|unrelated (?:question|topic|note|matter)|unrelated(?= ?[:,])|off[- ]topic|moving on to"
    "|forget (?:about )?(?:that|this|it) for now|on (?:a|an) (?:different|unrelated|another) note"
    "|(?:put|park) (?:that|this|it)(?: aside| for now|(?=[.,;!]|$))|leave (?:that|this|it) (?:aside|for now)|(?<!have )(?<!know )(?<!not )(?<!is )enough about",
    "聊 说 주 화 다 a new on another different separate change changing switch something talk unrelated off moving "
    "forget put park leave enough switching",
)
"""Wordings that open a new topic; they win over referring words. Source: ours."""

_ENGLISH_LEAVING = (
    r"(?:(?:ok(?:ay)?|right|alright|anyway|well|so|now|great|thanks|cool|sorry|hey|also|oh|by the way)[,.! ]+){0,3}"
    r"(?!(?:what|which|how|why|where|when|who|is|are|does|did) )(?:"
    r"(?:(?:let's|let us|(?:can|could|shall) we|we can|i'll|please|i want to|i'd like to) )?(?:just )?(?P<verb>ignore|forget|enough"
    r"|drop|skip|park|shelve|scratch|leave|leaving|set|setting|put|putting|clos(?:e|ing)|paus(?:e|ing)|stop|hold|(?:talk|chat) about"
    r"(?=[^,.;:!?]{2,25}(?: instead|[.])))(?: (?:about|of))?(?! (?:to|what|how|if|a|an|me|in|on|up)(?![a-z]))(?= )"
    r"|[^,.;:!?\n]{0,45}?(?<![a-z'])(?P<english>(?:completely|totally|entirely) (?:different|new|separate)|hold that thought"
    r"|(?:un|not (?=[a-z]+ related)|not )related(?! to (?!this|that|the above|any|all|what))|not (?=[a-z]+ related)|off[- ]topic"
    r"|out of the blue|detour|jump around|not an? (?=[a-z]+ (?:question|thing|issue))|(?:this|it) is random"
    r"|(?:no|not(?:hing)?|never|isn't) (?:really |anything )?(?:about|to do with|more|what (?:we|you)|mind)(?! than)"
    r"|something (?:else|different|lighter)|(?:another|different|separate|new|next|fresh|other|random|side) (?:(?:sort|kind) of )?"
    r"(?:topic|subject|question|thing|matter|problem|note|one)(?! (?:in|to|of|with)(?![a-z]))|mov(?:e|ing) (?:on|away from)"
    r"|(?:chang|shift|switch|jump)(?:e|ing)? (?:the |to (?:an)?other )?(?:topics?|subjects?|gears|tack)|done with|take a break from"
    r"|(?:topic|subject)(?:'s| is) (?:closed|done)|that's (?:sorted|settled)|(?:apart|aside) from all"
    r"|that's (?:all|it|enough|a wrap)(?=[^,.;:!?]{0,15} (?:for|of|about|on|with) |[.,;]))(?![a-z']))"
    r"[^,.;:!?\n]{0,35}?(?:[,.;:!?\u2013\u2014]+ ?(?:but )?| but | and (?=talk|move|switch))(?=[^\W\d_])"
)
_CHINESE_LEAVING = (
    r"(?:(?:好了|好[的啦]?|行|嗯|那|对了|顺便|不好意思)[，,。.！! ]*){0,3}(?![^，。：；！？,.]{0,14}[问插][了过])"
    r"[^，。：；！？,.:;!?\n]{0,14}?(?:[跟和与同][^，。：；！？,.]{1,10}?(?P<apart>没(?:有|什么|任何|半点|啥)*关系)|(?P<chinese>"
    r"不相关|无关(?!紧)|不相干|不沾边|不搭|八竿子|不是一回事"
    r"|(?:不一样|完全不同)的|除了[这那][个些](?=[，,])|(?<!特)(?:别的|其他|其它)(?:的)?(?=事|问题|话题|吧|[，,。：:])"
    r"|[聊说][点些聊说]+轻松|(?:新的?|生活)(?:事|问题)|话题|题外话|另外?[还有聊说问一]*(?:件|个)?(?:事|问题)"
    r"|换[到成一个下件]*(?:主题|问题|事|方向|频道)|换一[换个](?=[，,。])|改天再?(?:聊|说)|聊完|放(?:一放|一边|下|放)|[抛撇]开"
    r"|(?:不|别|甭)[再用要想]*(?:聊|谈|讲|提(?![前供高醒升])|管|说(?![话清])|继续)(?!废)"
    r"|(?:忘[掉记了]?|忽略)(?=[刚这那前上之])|刚才的忘|跳过|打断|岔开|打住|翻篇|到此|到这(?=[里儿吧了，,。]|就)|先这样"
    r"|问题解决了|这个我?明白了))[^，。：；！？,.:;!?\n]{0,12}(?<![吗么呢])[，。：；！？,.:;!?]+ ?(?:但是?|不过)?(?=.)"
)
LEAVING = f"(?:{_ENGLISH_LEAVING}|{_CHINESE_LEAVING}){{1,3}}"
"""How a text begins that leaves what was said ("Enough of that.", 跟这个没关系，), as a pattern; its groups hold the words
that do. It opens a new topic where the rest of the text hangs on nothing and shares nothing. Source: ours."""

EXPLICIT_RETURN = Wordings(
    "说回 再说回 话说回 回头说 回过头 接着之前 继续之前 最开始说 最开始聊 一开始说 一开始聊 最初说 我说的是 我指的是 我问的是 "
    "說回 話說回 我說的是 我問的是 話を戻 話に戻 얘기로 이야기로",
    "回到(?!家|学校|公司|酒店|宿舍|老家|国内|过去|从前|现实|首页|主页|顶部|上一页)"
    "|back to(?! (?:school|work|sleep|bed|home|normal|life))|return(?:ing)? to"
    "|go(?:ing)? back(?! (?:home|in|and forth|to (?:school|work|sleep|bed|normal)))|circl(?:e|ing) back|revisit(?:ing)?"
    "|(?:at|in) the (?:start|beginning)(?! of)|at the (?:start|beginning) of (?:our|this|the) (?:conversation|chat|discussion)"
    "|i mean(?:t)? the|i was asking about",
    "back return i in go revisit at circle circling going returning revisiting",
)
"""Wordings that go back to an earlier topic; they win over referring words. Source: ours."""

CORRECTIONS = Wordings(
    "我问的不是 我说的不是 我指的不是 我不是问 我不是说 不是这个意思 不是那个意思 不是说这个 不是问这个 理解错了 误会了 误解了 搞错了话题 "
    "我問的不是 我說的不是 我不是問 我不是說 不是這個意思 不是那個意思 理解錯了 誤會了 "
    "そうじゃなくて そうではなくて その話じゃ その話ではな そういう意味じゃ そういう意味では",
    "(?:그게 아니라|그 말이 아니라|그런 뜻이 아니|그 얘기가 아니)[가-힣]{0,4}|(?:不是|不对|不對|错了|錯了|不)[,，。、!！ ]{0,2}(?:我|俺)(?:刚才|剛才)?(?:是)?(?:说|說|问|問|指|讲|講|想问|想問)(?:的|的是)"
    "|no[,.!]? i(?:'m| am| was)? (?:meant?|talking about|asking about|referring to)"
    "|not what i (?:meant?|asked|was asking|said|wanted)|(?:wasn't|was not|am not|i'm not|didn't|did not) (?:asking|ask) about (?:that|this|it)"
    "|you misunderstood|you(?:'ve| have)? got me wrong|wrong (?:topic|subject)",
    "그 错 錯 no am was not wasn't i'm did didn't you wrong you've",
)
"""Wordings by which a user says that the last answer took him wrong. Source: ours."""

SAID_BEFORE = Wordings(
    "之前说的 之前聊的 之前提到 之前讲的 之前问的 刚才说的 刚才聊的 刚才提到 刚刚说的 刚刚聊的 刚刚提到 前面说的 前面聊的 前面提到 前面讲的 "
    "上次说的 接着刚才 继续刚才 剛才說的 之前說的",
    "as (?:we|i|you) (?:discussed|said|mentioned)|from before"
    "|(?:you|we|i) (?:mentioned|discussed|talked about|said|told me|asked) (?:earlier|before|previously|at the start)"
    "|(?:earlier|before|previously),? (?:you|we|i) (?:mentioned|discussed|talked about|said|asked)",
    "as we i you from before earlier previously",
)
"""Wordings for what was said before: in an earlier topic where one holds it, else in the last turns. Source: ours."""

CHANGE_MARKERS = Wordings(
    "对了 另外 顺便 话说 哎对 还有个问题 还有一个问题 还想问 再问一下 另一个问题 换 别的 接下来 然后我 好了 對了 順便",
    "by the way|btw|anyway|anyways|also i|oh,? and|one more (?:thing|question)|another (?:thing|question)|next question"
    "|speaking of|changing|now,? (?:let's|i)|so,? tell me",
    "by btw anyway anyways also oh one another next speaking changing now so",
)
"""Weaker signs of a change. Source: ours."""

CONTINUATION = (
    r"(?:(?:嗯+|哦|噢|哎|好的?|行|可以|对|啊|哈+|等下|等等|ok|okay)[，,。.！!、\s]*)?"
    r"(?:那(?!个|些|里|边|儿|种|样|天|年)|还(?!款|钱|书|原)|再(?!见)|也|又|就|然后|所以|不过|但|可是|可我|可他|可她|可它|如果|要是|万一|改成|换成|除了|太|要不|或者"
    r"|我?[看试查做改装弄测跑試測裝](?:过|完|好|過)?了[，,。！!]"
    r"|(?:为什么|為什麼|为啥)(?:呢|会这样|會這樣)?[？?。！!\s]*$|這|这)"
    r"|(?:(?:ok(?:ay)?|yes|yeah|yep|no|hmm|oh|wait|great|right|sure|cool|thanks|perfect|nice|got it|alright|sorry)[,.! ]+)*"
    r"(?:and|but|so|or|then|what about|how about|what if|in that case|instead|if|even|plus|except|why not|any other"
    r"|anything|too|bit|both|same|not)(?![a-z'])(?! (?:something|unrelated))"
    r"|(?:with|without|for|from|in|on|at|by|to|of|as) (?!which|what|how|who)[^,.;:?!]{1,40}\?$"
)
"""How a text begins that goes on with what was said (那…, 还…, "and", "what if"), as a pattern. Source: ours."""

TRAILING = r"(?:呢|的话|来着|來著)[？?。！!~\s]*$|(?<![a-z'])(?:then|though|too|instead|as well|either)[?.! ]*$"
"""How a text ends that goes on with what was said (…呢, "then?"), as a pattern. Source: ours."""

EDITS = Wordings(
    "改成 改一 改得 改下 改大 改小 换成 换一 删掉 去掉 加上 加一 缩短 缩到 精简 压缩 写得 语气 润色 翻成 译成 正式点 口语 短一点 短点 长一点 长点 "
    "写错了 说错了 记错了 看错了 弄错了 打错了 不对 更正 纠正 改為 換成 刪掉 縮短 精簡 寫錯了 說錯了 不對",
    "cut (?:it|this|that|the)|shorten|swap|replace|drop the|soften|trim|rewrite|rephrase|reword|shorter|longer|warmer"
    "|softer|simpler|more formal|less formal|more casual|tighten|tone (?:it|down)|lower case|make it|change (?:the|it)"
    "|instead|(?:i|you) (?:misread|misheard|got (?:it|that) wrong)|typo|my mistake|that's wrong|should be",
    "cut i shorten swap replace drop soften trim rewrite rephrase reword shorter longer warmer softer simpler "
    "more less tighten tone lower make change instead you typo my that's should",
)
"""Wordings that change or correct what was written before. Source: ours."""

NEWEST_STATE = Wordings(
    "现在 目前 最新 最终 完整 全部 整个 全文 再来一遍 再发 重新发 合并 改完 現在 最終 整個",
    "now|current|currently|latest|final|whole|full|entire|complete|all the changes|so far|up to now|updated|again",
    "now current currently latest final whole full entire complete all so up updated again",
)
"""Wordings that ask for the state of a thing after all changes: the turns that changed it are wanted, too. Source: ours."""

ASKED_BEFORE = Wordings(
    "我问了 我问过 我问的 我问你 我还问 我都问 我一共问 我总共问 我中途问 我中间问 我最开始问 我一开始问 我刚才问 我今天问 我第一个问 我第一次问 我第二次问 我中间插 "
    "我跟你说过 我说过 我提过 我们聊了 我们聊过 我们说了 我问过哪 聊过哪 聊了几 問了 問過",
    "(?:did|have|had) (?:i|we) (?:ever |first |also |just |originally )?"
    "(?:ask|asked|say|said|tell|told|mention|mentioned|cover|covered|discuss|discussed|talk|talked|change|changed)"
    "|my (?:first|second|third|last|original) (?:question|message)|(?<!as )(?:i|we) (?:first )?(?:asked|discussed|covered)"
    "|how many (?:different )?(?:topics|subjects|questions)|question did i",
    "did have had i we my question how",
)
"""Wordings that ask what the user asked or said, or what was talked about. Source: ours."""

SMALL_TALK = Wordings(
    "今天天气 明天天气 周末天气 讲个笑话 讲一个笑话 说个笑话 写首诗 写一首诗 今天星期几 现在几点 今天的新闻",
    "weather (?:like )?(?:today|tomorrow|outside)|what's the weather|what is the weather|how's the weather"
    "|tell me a joke|tell me a story|write (?:me )?a poem|what day is it|what time is it|today's news",
    "weather what what's how's tell write today's",
)
"""Requests that people bring up out of the blue. Source: ours."""

GREETINGS = Wordings(
    "您好 早上好 下午好 晚上好 嗨 哈喽 在吗 早安",
    "你好(?![像吃看听玩用厉漂久多慢坏奇几])|hi|hello|hey|good (?:morning|afternoon|evening)|greetings|hiya",
    "你 hi hello hey good greetings hiya",
)
"""Greetings, as they open a text. Source: ours."""

THANKS = Wordings(
    "谢谢 感谢 多谢 再见 拜拜 不客气 辛苦了 謝謝 再見",
    "thanks|thank you|thx|bye|goodbye|see you|good night|take care|you're welcome|nice talking",
    "thank thanks thx bye good goodbye see take you're nice",
)
"""Thanks and goodbyes, after which a topic tends to end. Source: ours."""

ACKNOWLEDGEMENTS = Wordings(
    "好的 好吧 好啊 好呀 好嘞 嗯 嗯嗯 是的 对的 对啊 可以的 行吧 明白 明白了 知道了 了解了 没错 原来如此 哦 谢谢",
    "(?:好|对|行|可以|了解)(?!\\w)|ok|okay|yes|yeah|yep|sure|right|great|cool|nice|perfect|got it|i see|makes sense|sounds good|thanks|thank you|no|nope",
    "ok okay yes yeah yep sure right great cool nice perfect got i makes sounds thank thanks no nope",
)
"""Short answers that keep a topic going when they open a text. Source: ours."""

REQUEST_OPENERS = Wordings(
    "请问 我想 我要 帮我 请帮 推荐 能不能 可不可以 可以帮 麻烦 有没有 想问 想找 给我 请推荐 请给 教我 怎么才能 怎么做 怎样做 怎麼做 如何",
    "can you|could you|would you|please|i want|i need|i would like|i'd like|i am looking|i'm looking|help me|how do i"
    "|how can i|how to|give me|find me|show me|what is the best|is there",
    "can could would please i i'd i'm help how give find show what is",
)
"""How a request begins; these words say nothing of what is asked for. Source: ours."""

REQUEST_VERBS = Wordings(
    "写 翻译 介绍 解释",
    "recommend|suggest|write|draft|translate|explain|tell me about",
    "recommend suggest write draft translate explain tell",
)
"""What a request asks to be done. Source: ours."""

QUESTIONS_ABOUT_YOU = Wordings(
    "你喜欢 你平时 你有 你是 你会 你们 您喜欢",
    "(?:do|did|will) you(?! (?:mean|think|know|remember|say))|(?<!how )(?:are|were) you|have you|(?:do|did|are|is) your|what's your|whats your|what is your|what are your"
    "|would you ever|you (?:have|like|ever|got)",
    "do did will you are were have is what what's whats would",
)
"""Questions about the other side, which open topics in small talk. Source: ours."""

ABOUT_CONVERSATION = (
    r"(?:我们|咱们)(?:之前|刚才|刚刚|今天|目前|到现在|这次)?(?:都|一共|总共)?(?:聊|讨论|谈|说|讲)(?:了|过|到|到了)?(?:什么|哪些|些什么|啥|多少)"
    r"|(?:我们|咱们)(?:之前|刚才|刚刚|今天|目前|到现在|这次)?(?:聊|讨论|谈|说)[过了到]?的(?:内容|话题|事情|东西|要点)"
    r"|(?<!怎么)(?<!如何)(?:总结|回顾|概括|梳理|归纳|小结)(?:一下|下)?(?:我们|咱们)?(?:的|这次|这段|今天|以上|上面|上述|刚才|整个|全部|之前)*(?:对话|聊天|谈话|讨论|会话|内容|话题|交流|要点)"
    r"|(?:聊天|对话|会话)(?:记录|历史)?(?:里|中)?(?:都)?(?:有|聊了|说了|提到了?)(?:什么|哪些)(?:话题|内容)?|(?:聊|讨论|谈)过(?:哪些|什么)(?:话题|事情|东西|内容)"
    r"|(?:總結|回顧)(?:一下)?(?:我們|這次)?(?:的)?(?:對話|討論|聊天)"
    r"|what (?:topics |subjects |things |points )?(?:have|did|were) (?:we|you and i) (?:been )?"
    r"(?:discuss(?:ed|ing)?|talk(?:ed|ing)?|chat(?:ted|ting)?|cover(?:ed|ing)?|go over|gone over)(?: about)?(?![a-z])"
    r"|what we(?:'ve| have)? (?:been )?(?:discuss(?:ed|ing)|talk(?:ed|ing)|chatt(?:ed|ing)|covered)(?: about)?(?![a-z])"
    r"|(?:summari[sz]e|recap|review|sum up|outline) (?:everything(?! in)|(?:(?:our|this|the|all of) ?)?(?:whole |entire |this |our |the )?(?:conversation|chat|discussion|session|thread|dialogue|dialog))"
    r"|(?:summary|recap|overview) of (?:our|this|the) (?:whole |entire )?(?:conversation|chat|discussion|session|thread)"
    r"|(?:what|which) (?:topics|subjects|things|points) (?:have|did) we|list (?:all )?(?:of )?(?:the |our )?(?:topics|subjects)"
    r"|so far in (?:this|our) (?:conversation|chat|discussion)"
)
"""Questions about the conversation itself, as a pattern. Source: ours; no repetition stands inside another."""
