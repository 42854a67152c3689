"""The conversation that ``gatekeeper demo`` is about, and the seven questions that it asks, as data.

Five topics with returns, in Chinese, English and code: a Redis cache, a trip to Lisbon, sourdough, a bug in an invoice
import, piano lessons. Everything in it is made up. Each question is asked at the end of the conversation.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["CONVERSATION", "QUESTIONS", "Question", "QuestionKind"]

QuestionKind = Literal[
    "continuing",
    "referring back",
    "switching",
    "returning",
    "an exact identifier",
    "about the conversation",
    "nothing relevant",
]


class Question(NamedTuple):
    """A question to the conversation: how it stands to what was said, and its text."""

    kind: QuestionKind
    text: str


QUESTIONS: tuple[Question, ...] = (
    Question("continuing", "朵朵这周六发烧了，还要付那 160 元吗？"),
    Question("referring back", "展开说说"),
    Question("switching", "换个话题，我想养一只猫，第一周要准备哪些东西？"),
    Question(
        "returning",
        "Back to Lisbon: which neighbourhood did we choose, and what does the guesthouse cost now?",
    ),
    Question("an exact identifier", "What exactly does INV-4035 mean?"),
    Question("about the conversation", "我们今天都聊了些什么？"),
    Question("nothing relevant", "Who won the chess world championship in 1985?"),
)
"""One question of each kind."""

CONVERSATION: tuple[tuple[str, str], ...] = (
    # A The product page's Redis cache, in Chinese
    (
        "我们商品详情页的接口太慢了，P95 有 820 毫秒，数据库 CPU 也经常跑满。想在前面加一层 Redis，从哪里下手？",
        "先只缓存读多写少的那一块：商品详情。流程用 cache-aside：先读 Redis，没有再查 PostgreSQL，"
        "查到以后写回缓存并设过期时间。更新商品时先写库、再删键，不要去改缓存里的值，否则并发下容易留下旧数据"
        "。先做这一个接口，看命中率和 P95，再决定要不要扩大范围。",
    ),
    (
        "键怎么命名？过期时间设多久合适？",
        "建议键名带版本，方便以后换结构：\n"
        "```\n"
        "prod:detail:v1:{sku}\n"
        "```\n"
        "过期时间设 900 秒，再加 0 到 120 秒的随机抖动，避免一批键同时过期，把数据库打垮。库存和价格变化快，"
        "不要放进这个键，单独用 `prod:stock:{sku}`，过期 15 秒。",
    ),
    (
        "给我一段 Python 代码吧，我们用的是 redis-py 5.0.4。",
        "可以这样写，放在 `shop/cache.py`：\n"
        "```python\n"
        "def get_product(sku: str) -> dict:\n"
        '    key = f"prod:detail:v1:{sku}"\n'
        "    cached = client.get(key)\n"
        "    if cached:\n"
        "        return json.loads(cached)\n"
        "    product = load_from_db(sku)\n"
        "    client.set(key, json.dumps(product), ex=900 + randint(0, 120))\n"
        "    return product\n"
        "```\n"
        "`client` 在进程启动时建一次，连接池上限设 50，socket_timeout 设 0.2 秒：Redis 慢的时候宁可直接查库，"
        "也不要把请求挂住。",
    ),
    (
        "有人拿不存在的 sku 来刷接口，每次都打到数据库，怎么防？",
        "这是缓存穿透。两个办法一起用：第一，查不到也缓存一个空值，过期 60 秒；第二，在入口放一个布隆过滤器，"
        "把全部 48 万个 sku 装进去，误判率设 1%，大约只要 560 KB 内存。过滤器说没有，就直接返回 "
        "404，不再查 Redis 和数据库。",
    ),
    (
        "那热点商品过期的一瞬间，几百个请求一起回源呢？",
        "那是缓存击穿。用一把短锁，只让一个请求去查库：\n"
        "```\n"
        "SET lock:prod:{sku} <token> NX PX 3000\n"
        "```\n"
        "拿到锁的查库并写回，没拿到的等 50 毫秒再读一次缓存。释放锁要用 Lua 脚本比对 token，避免删掉别人的锁。",
    ),
    (
        "实例的端口和内存怎么配？6379 已经被会话服务占了。",
        "新实例用 6380 端口，和会话服务分开，互不影响。内存先给 4 GB，淘汰策略用 `allkeys-lfu`，"
        "因为商品访问很不均匀：\n"
        "```\n"
        "port 6380\n"
        "maxmemory 4gb\n"
        "maxmemory-policy allkeys-lfu\n"
        "```\n"
        "这些写进 `deploy/redis-prod.conf`，不要在线上用 CONFIG SET 改完就忘。",
    ),
    (
        "灰度的时候看哪些指标？",
        "看四个：命中率（目标 90% 以上）、接口 P95、数据库每秒查询数、Redis 的 evicted_keys。"
        "先放 5% 流量跑一天，没有报警再到 50%。回滚开关叫 `CACHE_PRODUCT_DETAIL`，关掉就直接查库，"
        "不需要发版。",
    ),
    # B The trip to Lisbon, in English
    (
        "Different thing: my sister and I want a few days in Lisbon in autumn. When is it still warm but not packed?",
        "The middle of October is a good bet. Days are usually around 22 degrees, the sea is "
        "still swimmable if you are brave, and the summer crowds are gone. Rain becomes more "
        "likely in the last week of the month, so I would aim for something between the 10th "
        "and the 20th. Museums and ferries still run their full timetables then.",
    ),
    (
        "We can do 14 to 19 October. The total for both of us should stay under 1,450 euros, flights included.",
        "That works. A rough split: 420 for two return flights, 475 for five nights at about "
        "95 a night, 300 for food, 90 for transport and entries, and you still keep about 165 "
        "as a cushion. Book the flights first, because they move the most; the guesthouses in "
        "the old quarters keep their prices fairly steady until September.",
    ),
    (
        "Which neighbourhood would you stay in? We like quiet streets and a view, no nightlife under the window.",
        "Graça. It sits on the hill above Alfama, so you get the Miradouro da Senhora do Monte "
        "at sunset, and the bars are mostly further down. The climb is real, but tram 28 and "
        "the 734 bus stop nearby. Avoid Bairro Alto for your purpose: it is charming at noon "
        "and loud until three in the morning.",
    ),
    (
        "Graça it is. Is a day in Sintra worth it, and how do we get there?",
        "Yes, if you leave early. The train goes from Rossio station, takes about 40 minutes, "
        "and costs 2.40 euros each way with a loaded card. Book the Pena palace for the 9:30 "
        "slot, walk down to the Quinta da Regaleira after lunch, and be back on a train by five. "
        "I would put it on Thursday the 16th, since the weekend queues are much longer.",
    ),
    (
        "What about food? She is vegetarian and I would eat grilled fish every day.",
        "Easy to combine. In Graça there is a small vegetarian canteen with a fixed lunch for "
        "9 euros, and almost every tasca has a bean or chickpea dish if you ask. For fish, take "
        "the ferry from Cais do Sodré to Cacilhas: the row of grills by the water is cheaper "
        "than downtown, and the view back to the city is free. Reserve nothing for lunch, but "
        "do reserve for Friday evening.",
    ),
    (
        "Any museum that you would not miss?",
        "The tile museum, in an old convent to the east of the centre. The panorama of the city "
        "from before the earthquake is 23 metres long and worth the visit by itself. It is closed "
        "on Mondays. Take the 759 bus, plan two hours, and have coffee in the courtyard under "
        "the trees.",
    ),
    (
        "Our flight is TP 1365 and lands at 10:40. How do we get up the hill with two suitcases?",
        "Take the red metro line to Alameda, change to the green line, get out at Intendente, "
        "and let a taxi do the last kilometre for about 6 euros. The whole way takes 45 minutes. "
        "With two heavy cases I would not try tram 28: it is tiny, full, and a favourite of pickpockets. "
        "A taxi from the airport straight to the door is 15 to 18 euros.",
    ),
    # C Sourdough, in Chinese
    (
        "周末想第一次做酸面包，家里只有一个普通烤箱和一口铸铁锅，能行吗？",
        "完全可以，铸铁锅比石板还好用，能锁住蒸汽。你需要的是一份活跃的酵种、一把秤和耐心。没有酵种的话，"
        "用全麦粉和水各 50 克养一周，每天倒掉一半再喂，闻起来像酸奶、四小时能涨一倍就可以用了。",
    ),
    (
        "酵种朋友送了一罐，取名叫阿胖。配方给我一个最简单的，用多少面粉多少水？",
        "一个 900 克左右的圆面包：高筋粉 450 克，全麦粉 50 克，水 350 克，阿胖 100 克，盐 10 "
        "克。含水量大约 70%，新手揉得住。水留 20 克最后和盐一起加。前一晚按 1:2:2 喂阿胖（种、"
        "粉、水），第二天早上涨到顶、表面刚开始塌的时候用。",
    ),
    (
        "发酵要多久？厨房大概 26 度。",
        "26 度的话，基础发酵大约 5 小时。前两个小时每 30 分钟折叠一次，一共四次，之后别再动它。"
        "看状态不看钟：体积涨到 1.6 倍左右，边缘鼓起来，轻轻晃盆会抖。然后整形，放进撒了米粉的藤篮，"
        "盖好，冰箱 4 度冷藏 12 小时。",
    ),
    (
        "烤的时候温度和时间怎么定？",
        "铸铁锅空着进烤箱，240 度预热 45 分钟。面团直接从冰箱拿出来，割一刀，深一点，倒进锅里盖上盖子烤 "
        "20 分钟；然后揭盖，降到 220 度再烤 22 分钟，上色到深栗色。出炉后放在网架上，至少等一个小时再切，"
        "里面还在定型。",
    ),
    (
        "没有藤篮可以用什么代替？割口总是粘刀。",
        "用一只 22 厘米的不锈钢碗，铺一块亚麻布，撒上米粉和面粉各一半。割口粘刀多半是面团不够冷或者刀不够快："
        "从冰箱拿出来马上割，用新的剃须刀片，沾一点水，手腕放平，一刀划到底，不要来回锯。",
    ),
    # A The cache again
    (
        "说回 Redis 那个缓存，灰度跑了一周，命中率 93.4%，P95 降到 140 毫秒。但昨晚主节点挂了两分钟，"
        "全部打到数据库了。要上哨兵吗？",
        "恭喜，数字很好看。单点确实该补上：一主两从加三个哨兵，分在三台机器。关键参数：\n"
        "```\n"
        "sentinel monitor shop-main 10.0.4.21 6380 2\n"
        "sentinel down-after-milliseconds shop-main 5000\n"
        "sentinel failover-timeout shop-main 60000\n"
        "```\n"
        "5 秒判定下线，整个切换一般在 10 秒以内。应用侧改用 redis-py 的 `Sentinel` 类拿主节点地址，"
        "不要写死 IP。",
    ),
    (
        "切换的那十秒里，数据库扛得住吗？平时回源只有每秒 60 次，全量是每秒 900 次。",
        "直接扛 900 次有风险。加两层保护：一是进程内的小缓存，容量 2000 个 sku、过期 10 秒，能挡掉大部分热点；"
        "二是对回源限流，每个进程每秒最多 40 次，超出的返回旧数据或者降级页面。这样切换期间数据库大约只多承受"
        "每秒 200 次，压测一遍再上。",
    ),
    (
        "演练安排在什么时候合适？",
        "选 6 月 12 日周四凌晨 2 点，流量最低。步骤：先在预发环境手动 `DEBUG SLEEP 30` 触发切换，"
        "记录恢复时间；没有问题再在线上停主节点一次。值班人提前把 `CACHE_PRODUCT_DETAIL` 的关闭方法写进手册，"
        "演练前后各导出一次监控截图。",
    ),
    # D The invoice bug, in English
    (
        "New problem at work. After we moved from pydantic 1.10.15 to pydantic 2.7.1 the nightly "
        "import breaks:\n"
        "```\n"
        "Traceback (most recent call last):\n"
        '  File "billing/parser.py", line 88, in parse_invoice\n'
        "    return Invoice.model_validate(row)\n"
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for Invoice\n"
        "total\n"
        "  Input should be a valid decimal [type=decimal_parsing, input_value='1.249,00']\n"
        "```",
        "The value is a German amount: a dot for thousands and a comma for decimals. In version "
        '1 your model probably had a `@validator("total", pre=True)` that cleaned it, and the '
        'rename to `@field_validator("total", mode="before")` was missed, so the raw string now '
        "reaches the decimal parser. Look for leftover `pre=True` validators in the module of "
        "the `Invoice` model.",
    ),
    (
        "You are right, it was in billing/models.py and the decorator was silently gone after "
        "the merge. How should the cleaning look?",
        "Keep it in one small function, so that it can be tested without the model:\n"
        "```python\n"
        "def normalise_amount(raw: str) -> str:\n"
        '    if "," in raw:\n'
        '        return raw.replace(".", "").replace(",", ".")\n'
        "    return raw\n"
        "```\n"
        "and call it from the validator. Do not guess for strings such as `1.249`: without a "
        "comma that could be either. Let the supplier's country decide, and raise your own code, "
        "for example `INV-4021` (ambiguous amount), instead of importing a wrong sum.",
    ),
    (
        "How many rows would that hit? Last night 37 of 1,912 invoices failed.",
        "Count before you decide. Run the import with a dry-run flag and group the failures by "
        "error type and supplier. I would expect most of the 37 to be comma amounts that the "
        "function repairs, and only a handful to end in INV-4021. Those go to a quarantine table "
        "with the original row, so that accounting can confirm the amount by hand in the morning.",
    ),
    (
        "Dry run says 31 comma amounts, 4 with INV-4021, and 2 rows where due_date is 31.04. which does not exist.",
        "Then the two bad dates are a data problem, not a parsing problem: April has 30 days. "
        "Give them a separate code, `INV-4035` (impossible date), and send them to the same quarantine "
        "table. Do not roll them over to the 1st of May: a payment term is a legal statement, "
        "and only the supplier can correct it.",
    ),
    (
        "Which tests should I add so that it cannot come back?",
        "Three in `tests/test_parser.py`: `test_german_amounts` with a table of inputs and expected "
        "decimals, `test_an_ambiguous_amount_is_refused` that checks the code INV-4021, and one "
        "that builds `Invoice` from a raw row, because the bug was in the wiring and not in the "
        "function. The last one would have failed on the day of the merge. Add the failing row "
        "of ticket BILL-318 as a fixture.",
    ),
    (
        "All green. Can the import continue after a bad row rather than dying?",
        "Yes: catch `ValidationError` per row inside the loop of `import_nightly`, write the "
        "row and its code to quarantine, and count. Stop the whole job only when more than 5 "
        "% of the rows fail, since that means the file itself is wrong. Log one summary line "
        "at the end with the totals, so that nobody has to read 1,900 lines to learn that all "
        "is well.",
    ),
    (
        "Good. It goes out with release 2.14.3 tomorrow.",
        "Then leave yourself a way back: keep the old parser behind the setting `BILLING_PARSER=legacy` "
        "for two weeks, and compare the daily sums of both for three nights. Once the totals "
        "agree to the cent, delete the legacy path and the setting together, so that it does "
        "not stay in the code for years.",
    ),
    # B Lisbon again
    (
        "Back to the Lisbon trip: the guesthouse in Graça now wants 110 a night. Does the plan still hold?",
        "It does, just with less air. Five nights cost 550 instead of 475, which takes 75 out "
        "of the cushion and leaves about 90 euros. If you want that back, skip the taxi from "
        "the airport and have two lunches at the vegetarian canteen. I would still take the place "
        "if the room looks over the river: the view was what you asked for.",
    ),
    (
        "And what should we do on our last day? The plane home leaves at 19:25.",
        "Leave the cases at the guesthouse, walk down through Alfama before ten, when the lanes "
        "are still empty, and follow the river to the Feira da Ladra if it is a Saturday; otherwise "
        "go to the tile museum, which is on the way. Have a late lunch near Santa Apolónia, "
        "collect the cases at three, and be at the airport by 17:15.",
    ),
    # C The bread again
    (
        "酸面包烤出来了！外壳很漂亮，但里面很密，几乎没有大气孔，是哪里出了问题？",
        "外壳好说明烤箱没问题，密实一般是发酵不足。看切面：如果底部有一圈又湿又紧、上面有一两个大洞，"
        "就是基础发酵时间短了。下次让面团涨到 1.7 倍再整形，或者把水温提高到 28 度。另外确认阿胖够不够活跃："
        "喂完四小时涨不到两倍，就先连续喂三天再用。",
    ),
    (
        "剩下的老面包硬了，扔了可惜，能做什么？",
        "切片刷橄榄油和蒜，180 度烤 12 分钟，就是很好的脆片，密封能放一周。也可以掰成块做番茄面包汤，"
        "或者打成面包糠冷冻起来炸猪排用。淋一点水，200 度复烤 6 分钟，早餐直接吃也不错。",
    ),
    # D The bug again
    (
        "One more on parse_invoice: the legacy and the new totals differ by 0.01 on two of the three nights. Rounding?",
        "Almost certainly. The old path parsed to float and rounded at the end, the new one keeps "
        "`Decimal` all the way. Sum the rows where the cents of both paths differ: you should "
        "find amounts with three decimal places, typically fuel or electricity at 0.285 per unit. "
        'Fix the rule in one place with `quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)`, '
        "which is what accounting does on paper.",
    ),
    (
        "Yes, it was an energy supplier with three decimals. Fixed, totals agree now. Thanks!",
        "Nice. Write the reason into BILL-318 before closing it, with the supplier and the rounding "
        "rule, so that the next person who meets a cent of difference finds it. And put a reminder "
        "in the calendar for removing the legacy setting in two weeks.",
    ),
    # E Piano lessons, Chinese and English mixed
    (
        "想给女儿朵朵报钢琴课，她七岁，零基础。附近有位老师 Ms. Hart 只说英文，每节 45 分钟 320 元，值得吗？",
        "七岁很合适，手的大小和注意力都够了。英文授课不是障碍，钢琴课里大部分是示范，还顺带练听力。"
        "价格在有经验的外教里算中等。建议先约一节 trial lesson，看三件事：她会不会蹲下来和孩子说话，"
        "会不会布置具体的练习，朵朵出来的时候是不是还想再弹。",
    ),
    (
        "上周试了一节，朵朵很喜欢。Ms. Hart 说 Wednesday 17:30 或者 Saturday 10:00 都行，选哪个？",
        "选 Saturday 10:00 更稳：孩子早上精神好，家长也能陪着听一次要点。周三 17:30 放学后容易累，"
        "碰上堵车还会迟到。不过如果周六经常出门，就选周三，固定比完美更重要。可以问 Ms. Hart "
        "能不能第一个月周六，之后再调整。",
    ),
    (
        "定了周六。买琴的话，电钢琴够用吗？预算 5000 以内。",
        "前两三年够用。要看的是 88 键、全配重、有三级力度，别买 61 键的 keyboard。5000 以内 Roland "
        "FP-30X 和 Yamaha P-145 都合适：前者触键更接近真琴，后者轻一点、便宜大约 900。琴凳一定要能调高度，"
        "脚下垫一个小凳子，让朵朵的前臂和键盘水平。",
    ),
    (
        "最后买了 Roland FP-30X。在家每天练多久？她弹十分钟就跑了。",
        "七岁每天 15 分钟就好，分成两段：早饭前 5 分钟弹昨天会的，晚饭后 10 分钟练新的。用贴纸记次数，"
        "不要记时间。跑开的时候不追，第二天换一首她自己选的曲子开头。Ms. Hart 布置的 Hot Cross "
        "Buns 先只练右手，两个小节一组，弹对三遍就收工。",
    ),
    (
        "帮我写一封 English email 给 Ms. Hart，下周六我们要去外婆家，想把课改到周三那个时间。",
        "可以这样写：\n"
        "Dear Ms. Hart,\n"
        "Duoduo will be visiting her grandmother next Saturday and cannot come at 10:00. Would "
        "it be possible to move that lesson to Wednesday at 17:30, just this once? She has been "
        "practising Hot Cross Buns with her right hand every day and would love to show you.\n"
        "Kind regards,\n"
        "Duoduo's mother",
    ),
    (
        "她回复说 OK，但是说以后改课要提前 48 小时，不然要收一半的钱，160 元。",
        "这个规定很常见，也合理，老师的时间是预留的。建议把它记到家庭日历里：每周四早上 10 点之前决定周六上不"
        "上，过了就默认去。生病一般可以例外，可以回一句 Thank you, that is perfectly fair，再顺便问清楚发烧这"
        "种情况怎么算。",
    ),
)
"""The turns, oldest first: what the user said, what the assistant answered."""
