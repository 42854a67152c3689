"""How common a term is in everyday dialogue, in parts per million: what a young conversation cannot know.

Derived counts, no text; sources and licences are named in the NOTICE file. Written by
``python -m benchmarks.build_background``, not by hand.
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
    pairs = (_ENGLISH + " " + _CHINESE).split()
    return MappingProxyType({term: int(ppm) / 1e6 for term, ppm in zip(pairs[::2], pairs[1::2], strict=True)})


_ENGLISH = """
lov 5460 good 4793 work 4596 tim 3867 great 3521 try 3459 feel 3447 today 2891 help 2891 friend 2829 nic 2471 sound
2471 think 2458 favorit 2446 music 2298 interest 2285 dog 2248 learn 2224 lif 2150 liv 2125 play 2063 movi 2063 cool
1977 know 1915 new 1853 enjoy 1853 watch 1841 fun 1717 job 1668 day 1655 food 1618 school 1520 read 1495 person 1470
travel 1470 book 1359 nam 1347 suggest 1310 chat 1285 kid 1260 hop 1248 find 1248 year 1223 listen 1198 recommend
1174 hear 1161 understand 1149 talk 1149 eat 1149 relax 1124 advic 1099 shar 1099 experienc 1087 walk 1087 best 1075
old 1075 plan 1062 car 1050 gam 1038 ai 1025 cook 1025 recent 1001 hobby 988 better 976 activity 976 skill 976 fami
951 look 939 differ 902 right 902 hom 889 happy 889 beautiful 877 cours 865 cat 828 awesom 815 color 815 danc 815
big 803 pet 791 spend 791 parent 778 improv 778 long 766 wish 766 exercis 766 hard 754 companion 729 choos 729 plac
729 money 717 health 717 welcom 704 next 679 sing 667 prefer 667 emotion 667 stay 655 marry 655 consider 655 hors
655 run 655 two 642 important 642 farm 642 problem 642 sorry 630 country 630 method 630 dad 618 tak 618 hous 618
drink 618 study 618 hat 618 back 605 believ 605 hair 605 writ 605 mean 605 glad 593 physical 593 career 581 support
581 high 581 city 581 start 581 mak 568 bit 568 visit 568 practic 568 call 568 wif 556 sport 556 meet 544 driv 544
inspir 531 win 531 grow 531 world 519 rock 519 first 519 body 519 mind 519 shop 519 mov 507 red 494 art 494 fish 494
animal 494 outdoor 494 idea 494 stress 482 park 482 teach 482 dish 482 especial 469 weather 469 girl 469 dream 469
littl 457 birthday 457 video 457 song 457 hik 457 definit 445 haha 445 bring 445 excit 445 break 445 difficult 445
buy 445 blu 432 trip 432 teacher 432 pay 432 paint 432 retir 432 way 420 scenery 420 bad 420 mom 420 luck 420 child
420 class 420 futur 408 climb 408 languag 408 challeng 408 tonight 395 provid 395 company 395 meditat 395 typ 395
rid 395 weekend 395 show 395 colleg 383 thre 383 luna 383 amaz 383 night 383 explor 383 tast 383 ability 383 pizza
371 diet 371 story 371 opportunity 371 fre 358 tru 358 small 358 busy 358 swim 358 band 358 develop 358 wear 358
requir 358 los 358 speak 358 photography 346 coffe 346 morn 346 even 346 maintain 346 question 346 part 334 human
334 month 334 husband 321 wonderful 321 yoga 321 chicken 321 sun 321 bik 321 museum 321 current 321 prepar 321 young
309 delicious 309 knowledg 309 process 309 local 309 build 309 boy 309 stuff 296 remember 296 bet 296 tired 296
famous 296 cultur 296 professional 296 program 296 ask 296 sister 296 mountain 296 bor 296 fry 296 novel 296 concert
296 decid 296 older 284 onlin 284 history 284 tea 284 relat 284 volunteer 284 breath 284 train 284 fac 284 styl 284
valu 284 italian 272 father 272 specific 272 tomorrow 272 chines 272 common 272 jack 272 man 272 age 272 fan 272
boyfriend 272 issu 272 week 272 olympic 272 chang 272 bak 272 natural 259 gym 259 assistant 259 black 259 goodby 259
reliev 259 coach 259 lon 259 grad 259 focus 259 toy 259 strong 259 saf 259 outsid 247 self 247 additional 247
classic 247 techniqu 247 clos 247 last 247 open 247 sad 247 leav 247 sell 247 worry 247 turn 247 summer 235 born 235
congratulation 235 funny 235 john 235 guitar 235 natur 235 spain 235 tv 235 spanish 235 short 235 workout 235 simpl
235 finish 235 sav 235 field 235 follow 235 task 235 anxious 235 deep 235 woman 235 set 235 imagin 235 town 222 cant
222 seen 222 water 222 chocolat 222 tip 222 abl 222 sweet 222 check 222 cuisin 222 moment 222 light 222 confident
222 clean 222 happen 222 collect 222 mickey 210 most 210 business 210 guess 210 alright 210 uniqu 210 attention 210
linda 210 exampl 210 need 210 want 210 draw 210 hour 210 participat 210 shoot 210 avoid 210 touch 210 burger 210 ice
198 somalia 198 cancer 198 internet 198 ha 198 saw 198 hot 198 full 198 comfortabl 198 bas 198 positiv 198 addition
198 henry 198 beach 198 sens 198 eye 198 stop 198 seek 198 mental 198 computer 198 cloth 198 attend 198 topic 198
lik 198 personal 198 skateboard 198 roll 198 restaurant 198 com 198 garden 198 communicat 198 power 198 encounter
198 disney 185 singl 185 super 185 special 185 social 185 technology 185 twitter 185 classical 185 adopt 185 slow
185 perfect 185 taco 185 shelter 185 model 185 scorpion 185 constant 185 recip 185 keep 185 possibl 185 truck 185
weigh 185 bunny 185 son 185 bee 185 block 185 not 185 miss 185 relationship 185 artist 185 fly 185 cream 173 fin 173
lat 173 forward 173 french 173 garlic 173 piano 173 construct 173 fitness 173 alot 173 europ 173 real 173 popular
173 rich 173 pleasant 173 zhang 173 spiritual 173 journey 173 reduc 173 continu 173 turtl 173 action 173 pressur 173
search 173 stor 173 folk 173 engineer 173 form 173 wait 173 student 173 blond 173 overcom 173 achiev 173 industry
173 function 173 cut 173 compet 173 character 173 celebrat 173 gift 173 knit 173 allow 173 ah 161 gold 161 military
161 taylor 161 death 161 spar 161 agre 161 fast 161 mous 161 alon 161 crazy 161 sid 161 colorado 161 final 161
facebook 161 soccer 161 tough 161 green 161 english 161 later 161 cold 161 creativ 161 psychology 161 progress 161
helpful 161 suitabl 161 playground 161 gray 161 direction 161 soda 161 freez 161 normal 161 confus 161 interview 161
group 161 master 161 sal 161 creat 161 head 161 bar 161 top 161 donut 161 situation 161 honest 161 catch 161 dat 161
sit 161 rac 161 pass 161 aunt 148 someday 148 church 148 congrat 148 chanc 148 team 148 bread 148 fiv 148 vegan 148
orang 148 excellent 148 rest 148 easy 148 fresh 148 cooki 148 cultural 148 goal 148 efficient 148 dress 148 party
148 lab 148 hurt 148 duty 148 equip 148 frank 148 total 148 major 148 cow 148 brother 148 fit 148 main 148 perform
148 record 148 bank 148 produc 148 surviv 148 releas 148 express 148 complet 148 habit 148 talent 148 serv 148
winter 136 swift 136 leo 136 king 136 various 136 lawyer 136 studio 136 ford 136 afternoon 136 nop 136 gymnastic 136
yellow 136 door 136 chess 136 four 136 wrong 136 expensiv 136 nascar 136 doctor 136 organic 136 pink 136 useful 136
sho 136 war 136 shap 136 increas 136 accompany 136 absolut 136 exhaust 136 tractor 136 adjust 136 horizon 136 step
136 fav 136 joy 136 number 136 charm 136 baby 136 hang 136 stat 136 second 136 environment 136 plot 136 careful 136
marathon 136 certain 136 rais 136 them 136 nurs 136 solv 136 caus 136 medal 124 anymor 124 street 124 metal 124
german 124 blood 124 enjoyabl 124 early 124 tennis 124 forget 124 chip 124 see 124 far 124 paella 124 ready 124 lit
124 brit 124 air 124 practical 124 patienc 124 benefit 124 degre 124 doubl 124 heart 124 deal 124 meat 124 pleasur
124 gain 124 broaden 124 photo 124 appreciat 124 servic 124 weak 124 pick 124 row 124 community 124 balanc 124 fir
124 scar 124 instrument 124 documentary 124 exhibit 124 manag 124 pursu 124 piec 124 offic 111 ohio 111 third 111
offer 111 several 111 everywher 111 library 111 brown 111 apartment 111 royc 111 britney 111 spear 111 insur 111
smart 111 georg 111 what 111 impressiv 111 raw 111 spring 111 sleep 111 army 111 sunday 111 afraid 111 ancient 111
colleagu 111 meaningful 111 attitud 111 remind 111 singer 111 pop 111 papaya 111 fashion 111 shepherd 111 dinner 111
pictur 111 position 111 potential 111 craft 111 tend 111 event 111 order 111 word 111 vacation 111 handl 111 clear
111 film 111 card 111 cycl 111 graduat 111 robot 111 end 111 guy 111 matter 111 pro 111 encourag 111 meal 111 effort
111 warm 111 result 111 succeed 111 clown 111 tan 111 doll 111 grill 111 includ 111 perspectiv 111 painter 111 apply
111 suit 111 vanilla 99 treadmill 99 machin 99 hopeful 99 arm 99 die 99 dye 99 poor 99 horror 99 lifestyl 99 mexico
99 neat 99 whit 99 purpl 99 italy 99 custodian 99 put 99 leagu 99 columbus 99 chemistry 99 ros 99 hip 99 yesterday
99 kitchen 99 passion 99 worth 99 mood 99 creativity 99 pork 99 anytim 99 basic 99 badminton 99 forc 99 worker 99
holiday 99 lesson 99 ingredient 99 reflection 99 successful 99 escap 99 unfortunat 99 hug 99 musician 99 farmer 99
stick 99 market 99 send 99 bird 99 option 99 assist 99 fulfil 99 term 99 complex 99 mention 99 muscl 99 landscap 99
return 99 leg 99 depress 99 financ 99 fill 99 stretch 99 struggl 99 scen 99 add 99 season 99 join 99 point 99 fall
99 wrestl 99 fruit 99 articl 99 motivat 99 gas 86 pregnant 86 sometim 86 kind 86 american 86 trooper 86 mechanical
86 soft 86 daily 86 ocean 86 charli 86 christopher 86 violin 86 homeless 86 aerosmith 86 weird 86 bmw 86 road 86
bookstor 86 gav 86 canada 86 mal 86 florida 86 kindergarten 86 trad 86 larg 86 freedom 86 lunch 86 energy 86
vegetabl 86 scienc 86 emily 86 attract 86 kung 86 enhanc 86 enrich 86 stir 86 content 86 alleviat 86 information 86
jason 86 boss 86 sour 86 um 86 society 86 oliv 86 drug 86 board 86 subject 86 guid 86 musical 86 station 86 dealer
86 vegetarian 86 stand 86 upset 86 juvenil 86 helmet 86 sea 86 wrestler 86 level 86 room 86 key 86 discuss 86
opinion 86 expand 86 overwhelm 86 conversation 86 tour 86 shirt 86 particular 86 flavor 86 comfort 86 general 86
network 86 effectiv 86 concept 86 comedy 86 intelligent 86 tell 86 receiv 86 recover 86 entir 86 feed 86 mustang 86
figur 86 list 86 alien 86 detail 86 destination 86 frustrat 86 act 86 reach 86 realis 86 describ 86 chees 74
baseball 74 god 74 nearby 74 past 74 south 74 strang 74 aww 74 triplet 74 deaf 74 due 74 track 74 twitch 74 alabama
74 let 74 blind 74 twin 74 extra 74 seafood 74 insid 74 truly 74 sugar 74 sensitiv 74 six 74 mini 74 middl 74 coupl
74 homework 74 librarian 74 routin 74 chicago 74 alcoholic 74 grandfather 74 hospital 74 basketball 74 yacht 74
pinto 74 serious 74 scary 74 product 74 say 74 healthier 74 agility 74 feminist 74 shawarma 74 glass 74 yal 74 femal
74 gotta 74 wed 74 fact 74 lucy 74 magical 74 detention 74 fantastic 74 heck 74 pot 74 helpless 74 sery 74 condition
74 anywher 74 optimistic 74 steam 74 tourist 74 huangshan 74 relevant 74 pao 74 profound 74 humanity 74 one' 74
reasonabl 74 accord 74 sauc 74 roland 74 hit 74 waffl 74 shoplift 74 ston 74 honor 74 center 74 mil 74 calm 74
flower 74 spic 74 quality 74 moderat 74 uncertainty 74 organis 74 parameter 74 count 74 troubl 74 wonder 74 roleplay
74 thirty 74 depend 74 sibl 74 gambl 74 bed 74 comic 74 area 74 danger 74 allergy 74 design 74 connect 74 impress 74
camp 74 superpower 74 club 74 variety 74 promot 74 vivid 74 spot 74 quiet 74 burn 74 ton 74 bath 74 kitty 74 charity
74 dislik 74 refresh 74 wis 74 ex 62 therapist 62 yea 62 grandkid 62 franc 62 peac 62 guidanc 62 th 62 cheeseburger
62 fancy 62 reclus 62 skin 62 electrician 62 ghost 62 ski 62 dud 62 skinny 62 afford 62 psychic 62 van 62 counsel 62
retriever 62 lim 62 plus 62 nervous 62 economic 62 medicin 62 twic 62 mexican 62 north 62 carolina 62 york 62 rib 62
yummy 62 amount 62 trump 62 fluent 62 dear 62 solar 62 panel 62 player 62 veggi 62 rap 62 metabolism 62 awful 62
secret 62 rainbow 62 match 62 county 62 golden 62 insan 62 jazz 62 told 62 rob 62 shift 62 sushi 62 direct 62
sichuan 62 refer 62 contact 62 hint 62 civilis 62 tutorial 62 interpersonal 62 companionship 62 insight 62 decisiv
62 seasid 62 romanc 62 lak 62 historical 62 ensur 62 introvert 62 western 62 gary 62 susan 62 boat 62 bob 62 bill 62
island 62 hungry 62 driver 62 eater 62 hero 62 waitress 62 period 62 material 62 motorbik 62 project 62 websit 62
lie 62 approach 62 expect 62 giv 62 cod 62 kit 62 resourc 62 rescu 62 actor 62 drop 62 uniform 62 pain 62 view 62
switch 62 banker 62 snack 62 kayak 62 rul 62 surf 62 sunset 62 plant 62 limit 62 girlfriend 62 rain 62 shock 62
distraction 62 activ 62 assess 62 review 62 wid 62 sooth 62 control 62 obstacl 62 member 62 steal 62 ruffl 62 lack
62 purchas 62 satisfy 62 shipyard 49 navy 49 donat 49 mommy 49 spook 49 salesman 49 united 49 india 49 california 49
alaska 49 admir 49 rol 49 faint 49 homecom 49 educat 49 tir 49 responsibl 49 starcraft 49 somewher 49 factory 49
profession 49 stunt 49 buddy 49 lazy 49 football 49 huh 49 cali 49 grandchild 49 everyday 49 pool 49 aw 49 cup 49 rd
49 jail 49 sail 49 bus 49 grandma 49 ufc 49 wors 49 pony 49 reward 49 lawn 49 dead 49 supportiv 49 vintag 49 dry 49
cash 49 athlet 49 easier 49 pa 49 gear 49 dancer 49 ris 49 path 49 complicat 49 terribl 49 athletic 49 beneficial 49
news 49 christian 49 grand 49 precious 49 candy 49 colorful 49 soup 49 med 49 skydiv 49 excel 49 forbidden 49 divers
49 steak 49 hundr 49 wind 49 unsur 49 solitud 49 respect 49 easi 49 bold 49 anti 49 research 49 necessary 49
artistic 49 bass 49 life' 49 reflect 49 sci 49 fi 49 literatur 49 modern 49 itinerary 49 platform 49 countrysid 49
today' 49 boost 49 mindset 49 crucial 49 will 49 existenc 49 identify 49 elegant 49 atmospher 49 qingdao 49 noodl 49
energetic 49 shawshank 49 redemption 49 fiction 49 ivy 49 mentality 49 accept 49 report 49 discourag 49 manager 49
milk 49 exact 49 adult 49 loud 49 mix 49 addict 49 earn 49 ball 49 potato 49 sick 49 sleev 49 letter 49 striv 49
pursuit 49 beat 49 rar 49 suppos 49 teen 49 deliver 49 cloud 49 sew 49 affect 49 cop 49 trainer 49 own 49 reason 49
previous 49 laugh 49 embarrass 49 chas 49 pol 49 fear 49 skateboarder 49 dump 49 fascinat 49 lin 49 box 49 pan 49
salad 49 tradition 49 pair 49 adventur 49 distanc 49 psychological 49 notic 49 answer 49 deepen 49 tre 49 captur 49
app 49 factor 49 appropriat 49 smooth 49 bother 49 stream 49 genr 49 hand 49 effect 49 fight 49 proud 49 cost 49
medication 49 fair 49 hold 49 bon 49 relativ 49 visual 49 accurat 49 interact 49 exchang 49 determin 49 observ 49
thrill 49 rout 49 egg 49 stimulat 49 fail 49 latest 37 daddy 37 lottery 37 hockey 37 spirituality 37 brilliant 37
fully 37 till 37 vet 37 ree 37 queen 37 eager 37 fellow 37 lover 37 unusual 37 steady 37 mother 37 national 37 tupac
37 magic 37 surgery 37 sort 37 softball 37 sweaty 37 protect 37 greatest 37 yum 37 boil 37 shrimp 37 nah 37 bubbl 37
jean 37 loos 37 intak 37 saturday 37 averag 37 respond 37 behind 37 thanksgiv 37 haircut 37 medical 37 alcohol 37
batch 37 died 37 corner 37 jefferson 37 pack 37 becom 37 radiohead 37 detectiv 37 survivor 37 taxi 37 dark 37 roof
37 tanya 37 manhattan 37 motorcycl 37 gross 37 kim 37 fallout 37 elvis 37 africa 37 amazon 37 honey 37 twenty 37
eighty 37 cor 37 half 37 lil 37 wayn 37 central 37 west 37 mail 37 rough 37 trabajo 37 unabl 37 uh 37 ww 37
personality 37 media 37 lego 37 unhealthy 37 awww 37 therapy 37 miami 37 kinda 37 post 37 eight 37 journal 37 stabl
37 spiderman 37 data 37 tofu 37 low 37 passionat 37 bean 37 awe 37 photographer 37 dang 37 larry 37 casual 37 wash
37 taken 37 streamer 37 circl 37 spac 37 ping 37 pong 37 unhappy 37 cia 37 banjo 37 roller 37 worst 37 overtim 37
lighter 37 michigan 37 dryden 37 multipl 37 usual 37 eh 37 cas 37 nap 37 brav 37 sheep 37 chef 37 bulldog 37 hummus
37 culinary 37 ethic 37 fashionabl 37 hula 37 person' 37 ginger 37 representativ 37 literary 37 impact 37 heritag 37
wall 37 transport 37 gentl 37 enthusiasm 37 schedul 37 confid 37 gradual 37 mission 37 grateful 37 homemad 37
overall 37 foundation 37 expression 37 jay 37 roast 37 leisur 37 joker 37 competitiveness 37 trek 37 humorous 37
stranger 37 persist 37 discomfort 37
"""

_CHINESE = """
知道 7337 可以 4939 这个 4650 一个 3627 电话 3552 时间 3157 小时 2984 没有 2875 帮我 2495 还有 2359 以上 2261 你知 2140 谢谢 2091 最佳 2070 话是
2016 你好 1991 一下 1985 有什 1982 分以 1979 喜欢 1976 不错 1946 我想 1909 分是 1843 价格 1742 多少 1739 获得 1727 是一 1721 找一 1706 一家 1524
客气 1524 我推 1509 附近 1490 哪些 1433 是多 1387 您去 1308 非常 1302 有哪 1290 给我 1284 音乐 1272 这家 1257 国际 1245 出生 1235 谢你 1232 地方
1226 开放 1214 这里 1196 一些 1181 是哪 1178 间是 1090 在哪 1075 不客 1065 我知 1062 公司 1047 都是 1038 他是 1038 自己 1014 发行 999 都有 993
建议 980 还是 977 中国 959 我找 950 这部 938 记得 935 是在 932 问题 917 朋友 911 符合 889 博物 886 提供 868 我们 868 部电 868 这些 853 是什 844 作品
844 哪里 841 不过 841 找个 832 你有 826 道他 826 想找 823 看过 810 得过 801 要求 792 格是 792 也是 780 我还 771 个人 768 很多 768 你可 762 点有 759
一部 759 是北 753 哪年 747 当然 738 想去 735 在北 732 大街 729 您推 725 抱歉 722 王府 722 觉得 722 看看 722 有北 713 艺术 713 而且 713 时候 707 道这
692 告诉 689 服务 683 确实 680 我也 674 业时 662 诉我 659 大学 659 护国 659 为您 644 我查 644 不知 634 其他 631 需要 625 国家 610 不用 610 听过 610
聚德 604 是不 601 就是 598 这是 598 全聚 595 制作 595 比较 586 不是 586 但是 580 那你 580 吃饭 577 去北 574 时长 571 真是 571 是谁 571 我一 568 有没
565 听说 559 哪个 555 它家 552 佳男 549 放时 549 有啥 543 合您 540 你看 540 年出 540 这样 534 是很 534 很好 528 这首 528 这张 522 美国 519 主角 519
酒店 516 北京 516 景点 516 周边 516 餐馆 516 推荐 516 评分 516 电影 516 地址 516 游玩 516 门票 516 个景 516 人均 516 消费 516 专辑 516 荐一 516 边有
516 均消 516 址是 516 荐您 516 地铁 516 奖最 516 导演 516 玩时 516 址在 516 京市 516 公园 516 票价 516 演员 516 大酒 516 铁站 516 物馆 516 餐厅 516
边还 516 住宿 516 个评 516 张专 516 首歌 516 营业 516 歌手 516 家餐 516 免费 516 馆有 516 影片 516 上映 516 费是 516 国寺 516 店住 516 故宫 516 型酒
516 歌曲 516 边景 516 总店 516 个酒 516 能玩 516 台湾 516 首都 513 饭店 513 很不 510 景区 507 请帮 504 前门 501 感觉 501 世界 498 店有 498 能帮 498
他家 498 具体 498 今天 498 生活 495 很有 495 家酒 492 安门 492 主演 492 查一 486 分在 483 用餐 477 车牌 474 是我 474 车型 471 周一 471 那这 471 城区
467 尝试 464 选择 461 中心 461 奥斯 461 点游 458 家评 458 广场 455 宾馆 455 多久 455 可是 455 斯卡 455 长城 452 制片 452 我要 449 天安 449 小吃 449
我记 446 它周 446 玩多 443 帮助 443 或者 440 最近 440 然后 437 周日 437 最好 437 你还 437 起来 437 边餐 434 找到 434 还真 434 学习 434 代表 434 烤鸭
431 那它 428 现在 425 如果 425 他们 425 京天 422 个餐 422 应该 422 好玩 419 表作 416 有这 413 有其 413 以去 413 麻烦 410 点周 410 比如 407 清华 407
近有 407 奖项 407 京全 401 际酒 401 适合 401 它是 401 唱片 401 门广 398 下这 398 边都 398 门大 398 有一 398 出租 395 店周 395 术馆 395 以玩 395 边没
392 感谢 392 她是 392 太好 386 长是 386 是由 386 想吃 379 少钱 379 是他 379 京首 376 府井 376 王朝 370 个我 370 天伦 367 伦王 367 朝酒 367 清楚 367
我觉 367 香港 367 井店 364 票是 364 特别 364 也很 364 工作 364 园店 361 男主 361 金曲 358 以帮 355 鸭店 355 乐园 355 影节 355 曲奖 355 希望 352 有名
352 就去 349 我会 349 八达 346 达岭 346 类型 346 朝阳 346 租车 346 你去 346 很高 346 经济 346 有些 346 金像 346 像奖 346 还不 340 要去 337 我看 337
厉害 337 编剧 337 年发 337 寺小 334 等等 334 意思 334 您好 331 有景 331 道它 331 吃店 328 大奖 328 打算 325 你能 325 馆周 325 最低 325 那他 325 提名
325 还记 325 低价 322 再见 322 好像 322 美食 322 最喜 322 馆吃 319 至周 319 很喜 319 去过 319 成就 319 高档 316 寺总 316 不好 316 您要 313 风景 313
里面 313 我最 313 风格 313 作人 313 愉快 310 济型 310 说过 310 恭王 307 一位 307 旅游 307 今年 307 档型 304 一至 304 我很 304 名字 304 已经 304 听起
304 年上 304 票房 304 条件 301 哪家 301 日本 301 用客 297 第一 297 火锅 297 一定 297 有酒 294 京贵 294 边酒 294 并且 294 动物 291 格在 291 舒适 291
价是 291 自然 291 连锁 291 关于 291 年度 291 后我 288 有问 288 收到 288 活动 288 吃完 285 兴趣 285 元以 285 有别 282 多大 282 道菜 279 完饭 279 店是
279 贵都 279 都大 279 去看 279 都很 279 届奥 279 给您 276 是这 276 真不 276 电视 276 流行 276 家人 273 荐菜 273 有很 273 些餐 270 您可 270 这两 270
也可 270 你喜 270 他还 270 你们 267 个地 267 你说 267 佳女 267 英国 267 毕业 267 阳区 264 是个 264 演是 264 京西 261 有点 261 好吃 261 我没 261 际大
261 也不 261 际电 261 适型 258 华大 258 是周 258 美术 258 经典 258 岁数 258 过第 258 些景 255 我打 255 东城 255 鼓楼 255 站店 255 好意 255 名气 255
那我 252 天坛 252 个电 252 分享 252 你对 249 海底 249 影金 249 摇滚 249 查到 246 看一 246 去一 246 您看 246 值得 246 果你 246 这道 243 以游 243 颐和
243 和园 243 拍摄 243 方法 243 感到 243 吃到 240 海淀 240 荐你 240 天我 240 请问 240 学院 240 日出 240 生在 240 淀区 237 考虑 237 只有 237 还可 237
常感 237 道她 237 费在 234 长时 234 出品 234 不小 234 聊天 234 京海 231 型是 231 你帮 231 没问 231 给你 228 道哪 228 能够 228 机场 228 分钟 228 还获
228 两个 225 和你 225 我可 225 当年 225 生于 225 一起 222 国语 222 有餐 219 京大 219 关系 219 去这 219 看来 219 放松 219 金球 219 球奖 219 他出 219
给推 216 荐北 216 用谢 216 文化 216 些酒 216 边上 216 收录 216 有符 212 都宾 212 型和 212 锦江 212 再帮 212 不太 212 道是 212 故事 212 卡金 212 西城
209 是免 209 挺好 209 那就 209 必须 209 其它 209 我就 209 有时 209 佳导 209 历史 209 乐队 209 好听 209 创作 209 还想 206 术区 206 那里 206 国电 206
过他 206 作曲 206 它边 206 街店 203 能吃 203 豪华 203 京京 203 和车 203 楼店 203 算是 203 高兴 203 以尝 203 辑里 203 馆用 200 结束 200 商旅 200 旅酒
200 物园 200 些都 200 要找 200 森林 200 让我 200 我不 200 还知 200 届台 200 完全 197 多长 197 有查 197 烦你 197 和北 197 个价 197 休息 197 京国 197
便宜 197 都机 197 出发 197 一名 197 地区 197 美元 197 成立 197 乐风 197 饭我 194 里有 194 华型 194 是否 194 重要 194 感受 194 密云 194 更是 194 片人
194 一首 194 记下 191 你觉 191 啥好 191 不少 191 地附 191 站是 191 同时 191 不同 191 旺季 191 个票 188 不起 188 好地 188 欢迎 188 发展 188 联系 188
不要 188 有趣 188 好看 188 因为 188 有第 188 人是 188 主要 188 作为 185 角奖 185 家公 185 女歌 185 门店 182 牌是 182 京都 182 我喜 182 主题 182 去玩
182 位于 182 在这 182 属于 182 参观 182 鸟巢 182 亚洲 182 你听 182 所以 182 要多 182 岭长 179 发给 179 个能 179 在它 179 德烤 179 特色 179 旅行 179
有谁 179 小说 179 市朝 176 桥店 176 姚记 176 记炒 176 炒肝 176 肝店 176 方便 176 个游 176 几个 176 林公 176 计划 176 得这 176 我听 176 优秀 176 华语
176 玩结 173 店和 173 也有 173 是它 173 你一 173 来你 173 你要 173 艺人 173 司是 173 全符 170 合你 170 没关 170 家店 170 议您 170 家大 170 昌平 170
纪念 170 们去 170 华园 170 我感 170 一直 170 开始 170 对于 170 剧情 170 伴侣 170 京仪 167 仪大 167 看可 167 会议 167 什刹 167 刹海 167 事情 167 一张
167 此片 167 年轻 167 演唱 167 祝您 164 好多 164 近还 164 发地 164 京东 164 过我 164 片长 164 费开 164 信息 161 安排 161 想在 161 有评 161 世纪 161
都不 161 不多 161 家周 161 底捞 161 捞火 161 锁酒 161 试一 161 也获 161 男歌 161 华酒 158 味道 158 到一 158 我在 158 韩国 158 受欢 158 个很 158 体验
158 对他 158 没错 158 执导 158 演奖 158 他有 158 成功 158 你聊 158 爱好 158 候开 158 方式 158 出去 155 合适 155 介绍 155 常有 155 个门 155 更好 155
淡季 155 助你 155 你推 152 点可 152 不贵 152 好评 152 家有 152 大概 152 坐地 152 几点 152 你最 152 是有 152 语言 152 可能 152 尼斯 152 女主 152 节最
152 日上 152 届金 152 保持 152 去吃 149 名叫 149 设施 149 商务 149 位置 149 海洋 149 别是 149 达到 149 水立 149 立方 149 古北 149 实很 149 影是 149
港电 149 十大 149 提高 149 对不 146 剧院 146 我去 146 不算 146 查询 146 市口 146 近地 146 有故 146 注意 146 建筑 146 相信 146 国人 146 机会 146 是中
146 十岁 146 配角 146 十多 146 一种 146 湾金 146 实是 146 请给 143 市东 143 假日 143 都季 143 季商 143 议你 143 一般 143 个菜 143 多钱 143 话你 143
到这 143 自助 143 京亚 143 香山 143 体育 143 溜达 143 但我 143 成本 143 全球 143 实力 143 很大 143 能力 143 职业 143 健康 143 晚上 140 是太 140 大厦
140 我这 140 簋街 140 方面 140 过这 140 虽然 140 京饭 140 是非 140 其实 140 片奖 140 行音 140 身体 140 合条 137 下它 137 国国 137 您生 137 活愉 137
还行 137 烤肉 137 最后 137 另外 137 常好 137 受到 137 你也 137 他在 137 动画 137 组合 137 压力 137 片公 137 馆和 134 下次 134 一点 134 是挺 134 可不
134 我是 134 你想 134 二十 134 多岁 134 届香 134 获奖 134 想带 131 肯定 131 学校 131 下来 131 市海 131 祝你 131 要不 131 里人 131 这种 131 超级 131
那是 131 得是 131 那她 131 金马 131 说到 131 游戏 131 次年 131 菜有 127 以后 127 收费 127 尝尝 127 都在 127 部分 127 全天 127 我都 127 三里 127 出来
127 劲松 127 看这 127 个小 127 开心 127 转转 127 是获 127 最大 127 度最 127 技巧 127 个不 124 我对 124 满足 124 满意 124 京丰 124 相当 124 然风 124
游泳 124 分别 124 就不 124 是没 124 里可 124 让你 124 运动 124 生日 124 威尼 124 年成 124 能告 121 感兴 121 准备 121 请告 121 宋庄 121 书馆 121 景山
121 是几 121 技术 121 直门 121 山公 121 是你 121 支持 121 表演 121 三十 121 以及 121 他也 121 部影 121 品你 121 角提 121 喜剧 121 参加 121 行时 121
歌是 121 闭馆 121 近我 121 家博 118 我有 118 东路 118 念馆 118 都可 118 在看 118 洋馆 118 其中 118 灯市 118 票多 118 如何 118 科学 118 为你 118 据说
118 是美 118 和我 118 摄影 118 看到 118 爱情 118 哪部 118 得主 118 湾电 118 马奖 118 房间 115 女朋 115 宫餐 115 家最 115 想和 115 有个 115 烦您 115
胡同 115 价位 115 明天 115 店附 115 京鹏 115 鹏润 115 润国 115 里屯 115 两家 115 城店 115 周围 115 就在 115 个有 115 不清 115 图书 115 和目 115 得一
115 孩子 115 育场 115 啥时 115 根据 115 让人 115 卡最 115 于他 115 影奖 115 文名 115 志强 115 进行 115 以让 115 销量 115 水镇 115 就行 112 碗居 112
顺义 112 能给 112 路店 112 要是 112 京前 112 那可 112 试试 112 正好 112 展览 112 还能 112 左右 112 第二 112 是出 112 是大 112 嬉水 112 行李 112 李寄
112 寄存 112 欢这 112 里能 112 改编 112 他获 112 获过 112 佳影 112 风云 112 十几 112 最受 112 个公 112 手奖 112 票免 109 你记 109 牛街 109 到北 109
店都 109 有好 109 去游 109 馆里 109 们可 109 通州 109 真没 109 较喜 109 园内 109 视剧 109 女演 109 出演 109 两届 109 业于 109 聊聊 109 间开 109 更加
109 票要 109 技能 109 科技 106 好酒 106 大剧 106 增光 106 光路 106 边找 106 北大 106 差不 106 和电 106 和朋 106 东来 106 来顺 106 家是 106 场店 106
亚奥 106 奥国 106 他景 106 协会 106 例如 106 你是 106 不光 106 四十 106 来很 106 我只 106 影我 106 男演 106 当时 106 乐奖 106 更多 106 出道 106 个专
106 做一 106 那好 103 挺多 103 欢乐 103 把它 103 像馆 103 有意 103 解一 103 太多 103 个可 103 北新 103 新桥 103 能游 103 京奥 103 心店 103 详细 103
啥景 103 在什 103 水乐 103 望你 103 一次 103 凭借 103 片是 103 五十 103 在美 103 美丽 103 通过 103 北水 103 寻找 103 陪伴 103 生动 100 有人 100 都符
100 周末 100 顺便 100 包子 100 热水 100 个非 100 京中 100 夫人 100 蜡像 100 有两 100 有中 100 挺不 100 中央 100 村店 100 乘坐 100 地和 100 以下 100
散步 100 间要 100 得去 100 议中 100 于北 100 随时 100 他可 100 那在 100 这也 100 人生 100 间你 100 原来 100 讲述 100 那关 100 也知 100 过哪 100 有多
100 得有 100 交流 100 天气 100 练习 100 小汤 97 汤山 97 去中 97 束后 97 市西 97 馆都 97 从北 97 时热 97 不能 97 京杜 97 杜莎 97 莎夫 97 人蜡 97 想要 97
在附 97 捷酒 97 就很 97 大栅 97 栅栏 97 址发 97 饭庄 97 玩一 97 国内 97 个是 97 圆明 97 明园 97 十渡 97 那个 97 丰台 97 不会 97 理解 97 市密 97 知识 97 专业
97 到你 97 是她 97 认识 97 动作 97 科幻 97 道有 97 佳国 97 辑是 97 阅读 97 请在 94 住下 94 带女 94 国贸 94 话给 94 日酒 94 衣服 94 环境 94 峡谷 94 格林 94
小吊 94 吊梨 94 梨汤 94 点都 94 卤煮 94 老店 94 友去 94 西直 94 奥体 94 体中 94 西单 94 出名 94 我比 94 可真 94 周二 94 说这 94 来着 94 得到 94 演都 94 他今
94 男配 94 得第 94 说他 94 影响 94 榜最 94 写作 94 情绪 94 野生 91 间提 91 区域 91 海碗 91 居北 91 京菜 91 路总 91 你感 91 这边 91 带上 91 多好 91 算找 91
是啥 91 品酒 91 快捷 91 点里 91 把这 91 点是 91 健身 91 时尚 91 有能 91 瑞尔 91 西客 91 客站 91 庄店 91 预约 91 跟我 91 来不 91 常不 91 家体 91 奇幻 91 度假
91 欢哪 91 为一 91 该怎 91 同名 91 英语 91 几岁 91 过程 91 作词 91 天开 91 思考 91 困难 91 享受 91 缓解 91 店北 88 花园 88 合我 88 去哪 88 话和 88 观复 88
复博 88 房山 88 四季 88 牡丹 88 且评 88 有天 88 桥卤 88 煮老 88 也没 88 白家 88 览馆 88 区东 88 街小 88 只是 88 料理 88 有找 88 口店 88 一样 88 民族 88 我俩
88 得很 88 方嬉 88 汽车 88 人民 88 人都 88 城市 88 看电 88 影视 88 认为 88 年纪 88 时也 88 大利 88 太清 88 才华 88 司发 88 过很 88 书籍 88 佳新 88 人奖 88
美好 88 云榜 88 绘画 88 停止 88 小琳 88 记一 85 不到 85 还挺 85 界公 85 京动 85 个时 85 园和 85 上网 85 有电 85 京朝 85 也行 85 林豪 85 豪泰 85 近没 85 看行
85 有您 85 题酒 85 是经 85 蓝色 85 亮马 85 荐给 85 有他 85 口地 85 要门 85 怀柔 85 定会 85 很棒 85 战争 85 植物 85 有才 85 影大 85 过奖 85 做什 85 是华 85
情感 85 努力 85 进入 85 人物 85 到很 85 排行 85 行榜 85 你需 85 力和 85 瑜伽 85 些方 85 所有 82 是高 82 哪一 82 去名 82 家电 82 个出 82 个提 82 公共 82 能提
82 能做 82 上我 82 关村 82 家园 82 宽带 82 个最 82 当代 82 问这 82 您找 82 温泉 82 绍一 82 咨询 82 我希 82 南路 82 您在 82 尔威 82 威连 82 锁饭 82 是人 82
坛店 82 点附 82 中华 82 可惜 82 国科 82 个好 82 公里 82 平区 82 是第 82 品有 82 对对 82 印象 82 一天 82 斯国 82 也喜 82 影学 82 亿美 82 纪录 82 他多 82 经纪
82 新人 82 担任 82 成员 82 呼吸 82 票贵 82 遇到 82 挑战 82 早餐 79 乐谷 79 北路 79 大钟 79 以考 79 道你 79 接受 79 停车 79 都没 79 店提 79 接待 79 想从 79
我和 79 去处 79 门内 79 您把 79 体地 79 道都 79 亦庄 79 们找 79 庄园 79 马桥 79 底世 79 博览 79
"""
