"""The forms of English words that no ending tells, as data: irregular forms, families, spellings.

A family is a verb with the noun of its action (``cancel``, ``cancellation``), a quality with its adjective (``safe``,
``safety``), or a word in its British and American spelling (``colour``, ``color``). Kinship alone joins nothing: a
``station`` is no ``state``, an ``application`` for a job is one to ``apply``, but a ``department`` is nothing to
``depart``. So the families are a list and not a rule. Every row is general language, written for this library; none is
drawn from a data set. The tables are built when they are first used.
"""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["UNINFLECTED", "family_heads", "irregular_forms"]


@cache
def irregular_forms() -> Mapping[str, str]:
    """Return the base form of English words that no ending tells (``bought``: ``buy``).

    >>> irregular_forms()["wrote"], irregular_forms()["children"]
    ('write', 'child')
    """
    return _by_member(_IRREGULAR)


@cache
def family_heads() -> Mapping[str, str]:
    """Return, by English word, the word that stands for its family; the head itself is not listed.

    >>> family_heads()["cancellation"], family_heads()["colour"]
    ('cancel', 'color')
    """
    return _by_member(f"{_FAMILIES}|{_SPELLINGS}")


def _by_member(table: str) -> Mapping[str, str]:
    rows = (row.split() for row in table.split("|"))
    return MappingProxyType({member: head for head, *members in rows for member in members})


UNINFLECTED = frozenset(
    """
    bleed breed comply exceed hardly lens news organisation organization proceed speed succeed supply tired united
    """.split()  # noqa: SIM905 - a list of quoted words would be unreadable
)
"""Words that seem to have an ending and would be taken for another word without it. Source: ours."""

_IRREGULAR = (
    "become became|begin began begun|bite bit bitten|blow blew blown|break broke broken|bring brought|build built"
    "|burn burnt|buy bought|catch caught|choose chose chosen|deal dealt|dig dug|draw drew drawn|dream dreamt"
    "|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed|feel felt|fight fought|find found"
    "|fly flew flown|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|grow grew grown|hang hung"
    "|hear heard|hide hid hidden|hold held|keep kept|kneel knelt|know knew known|lay laid|lead led|leap leapt"
    "|learn learnt|leave left|lend lent|light lit|lose lost|mean meant|meet met|overcome overcame"
    "|overwrite overwrote overwritten|pay paid|rebuild rebuilt|rewrite rewrote rewritten|ride rode ridden"
    "|ring rang rung|rise rose risen|run ran|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shoot shot"
    "|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|sow sown|speak spoke spoken"
    "|spell spelt|spend spent|spill spilt|spin spun|spoil spoilt|stand stood|steal stole stolen|stick stuck"
    "|sting stung|strike struck|swear swore sworn|sweep swept|swell swollen|swim swam swum|swing swung|teach taught"
    "|tear tore torn|think thought thoughts|throw threw thrown|understand understood|wake woke woken|wear wore worn"
    "|weave woven|weep wept|win won|withdraw withdrew withdrawn|write wrote written|child children|man men"
    "|woman women|person people|foot feet|tooth teeth|mouse mice|louse lice|goose geese|ox oxen|life lives|wife wives"
    "|knife knives|leaf leaves|loaf loaves|wolf wolves|half halves|calf calves|shelf shelves|elf elves|thief thieves"
    "|scarf scarves|hoof hooves|bookshelf bookshelves|housewife housewives|grandchild grandchildren|fireman firemen"
    "|policeman policemen|businessman businessmen|salesman salesmen|index indices|matrix matrices|vertex vertices"
    "|appendix appendices|criterion criteria|phenomenon phenomena|bacterium bacteria|curriculum curricula"
    "|stimulus stimuli|cactus cacti|fungus fungi|alumnus alumni|larva larvae|analysis analyses|crisis crises"
    "|diagnosis diagnoses|hypothesis hypotheses|thesis theses|oasis oases|parenthesis parentheses|movie movies"
    "|cookie cookies|calorie calories|brownie brownies|smoothie smoothies|selfie selfies|hoodie hoodies"
    "|zombie zombies|rookie rookies|newbie newbies|veggie veggies|prairie prairies|genie genies|foodie foodies"
)
"""English base forms, each with its irregular forms. Source: ours (common irregular verbs and plurals)."""

_FAMILIES = (
    # a verb and the noun of its action
    "absorb absorption|accept acceptance|accuse accusation|achieve achievement|acquire acquisition|adapt adaptation"
    "|admire admiration|adopt adoption|advertise advertisement|agree agreement|allocate allocation|amaze amazement"
    "|amend amendment|amuse amusement|announce announcement|annoy annoyance|anticipate anticipation|apply application"
    "|appreciate appreciation|approve approval|argue argument|arrange arrangement|arrive arrival|assess assessment"
    "|assemble assembly"
    "|assign assignment|assist assistance|assume assumption|attach attachment|attend attendance|attract attraction"
    "|authenticate authentication|automate automation|behave behaviour behavior|believe belief|calculate calculation"
    "|calibrate calibration|cancel cancelled cancellation cancelation|celebrate celebration|choose choice"
    "|circulate circulation|clarify clarification|classify classification|collaborate collaboration"
    "|collect collection|combine combination|communicate communication|compare comparison|compensate compensation"
    "|compete competition|compile compilation|complain complaint|complete completion|compress compression"
    "|concentrate concentration|conclude conclusion|configure configuration|confirm confirmation|confuse confusion"
    "|connect connection|conserve conservation|construct construction|consult consultation|consume consumption"
    "|contaminate contamination|contribute contribution|convert conversion|cooperate cooperation"
    "|coordinate coordination|correct correction|create creation|deceive deception|decide decision"
    "|declare declaration|decorate decoration|dedicate dedication|deduct deduction|define definition|delete deletion"
    "|deliver delivery|demolish demolition|demonstrate demonstration|deny denial|deploy deployment"
    "|depreciate depreciation|describe description|destroy destruction|detect detection|develop development"
    "|deviate deviation|diagnose diagnosis|digest digestion|disappear disappearance|disappoint disappointment"
    "|discover discovery|discriminate discrimination|discuss discussion|distribute distribution|disturb disturbance"
    "|divide division|donate donation|duplicate duplication|educate education|eliminate elimination"
    "|embarrass embarrassment|emigrate emigration|emit emission|employ employment|encourage encouragement"
    "|encrypt encryption|engage engagement|enjoy enjoyment|enrol enroll enrolment enrollment|entertain entertainment"
    "|equip equipment|estimate estimation|evacuate evacuation|evaluate evaluation|examine examination"
    "|excite excitement|exhaust exhaustion|exhibit exhibition|expand expansion|expect expectation"
    "|expire expiration expiry|explain explanation|explode explosion|explore exploration|extend extension"
    "|extract extraction|fail failure|fascinate fascination|fluctuate fluctuation"
    "|frustrate frustration|fulfil fulfill fulfilment fulfillment|govern government|graduate graduation|grow growth"
    "|hesitate hesitation|identify identification|illustrate illustration|imagine imagination|imitate imitation"
    "|immigrate immigration|implement implementation|improve improvement|infect infection"
    "|inflate inflation|inherit inheritance|inject injection|inspect inspection|inspire inspiration"
    "|install installation|instruct instruction|insulate insulation|insure insurance|integrate integration"
    "|intend intention|interact interaction|interpret interpretation|interrupt interruption|intervene intervention"
    "|introduce introduction|invade invasion|invent invention|invest investment|investigate investigation"
    "|invite invitation|irritate irritation|isolate isolation|judge judgement judgment|justify justification"
    "|limit limitation|lose loss|maintain maintenance|manage management|manipulate manipulation|marry marriage"
    "|measure measurement|meditate meditation|migrate migration|moderate moderation|modify modification"
    "|motivate motivation|multiply multiplication|navigate navigation|negotiate negotiation|nominate nomination"
    "|notify notification|observe observation|obsess obsession|offend offence offense|operate operation"
    "|participate participation|pay payment|perform performance|permit permission|persuade persuasion"
    "|pollinate pollination|pollute pollution|postpone postponement|predict prediction|prefer preference"
    "|prepare preparation|prescribe prescription|preserve preservation|prevent prevention|produce production"
    "|promote promotion|pronounce pronunciation|propose proposal|prosecute prosecution|protect protection|prove proof"
    "|publish publication|punish punishment|qualify qualification|react reaction|recognize recognition"
    "|recommend recommendation|recover recovery|recruit recruitment|reduce reduction|refresh refreshment"
    "|refuse refusal|register registration|rehearse rehearsal|reimburse reimbursement|reject rejection"
    "|relax relaxation|relocate relocation|remove removal|renew renewal|renovate renovation|rent rental"
    "|repeat repetition|replace replacement|replicate replication|require requirement|reserve reservation"
    "|resign resignation|resist resistance|respond response|restore restoration|restrict restriction"
    "|retire retirement|retrieve retrieval|revise revision|rotate rotation|satisfy satisfaction|select selection"
    "|separate separation|settle settlement|simplify simplification|simulate simulation|solve solution|speak speech"
    "|specify specification|stimulate stimulation|submit submission|subscribe subscription|subtract subtraction"
    "|succeed success|suggest suggestion|supervise supervision|survive survival|suspect suspicion|suspend suspension"
    "|tempt temptation|terminate termination|transact transaction|transcribe transcription|transform transformation"
    "|translate translation|transmit transmission|transplant transplantation|transport transportation|treat treatment"
    "|vaccinate vaccination|validate validation|vary variation|ventilate ventilation|verify verification"
    "|violate violation|weigh weight|withdraw withdrawal"
    # a quality or a thing, and its adjective
    "|absent absence|accurate accuracy|allergy allergic|angry anger|anxious anxiety|available availability"
    "|aware awareness|bad badly|beautiful beauty|bitter bitterness|bright brightness|certain certainty"
    "|clean cleanliness|compatible compatibility|complex complexity|confident confidence|consistent consistency"
    "|convenient convenience|curious curiosity|danger dangerous|dark darkness|deep depth|depress depression"
    "|differ difference different|difficult difficulty|dirt dirty|dizzy dizziness|dusty dust|efficient efficiency"
    "|electric electricity electrical|emotion emotional|environment environmental|famous fame|finance financial"
    "|flexible flexibility|fluent fluency|fog foggy|fragile fragility|frequent frequency|generous generosity"
    "|grateful gratitude|guilt guilty|happy happiness|health healthy|high height|honest honesty|humid humidity"
    "|hungry hunger|ill illness|important importance|independent independence|intelligent intelligence"
    "|intense intensity|itch itchy|jealous jealousy|juice juicy|lazy laziness|lonely loneliness|loyal loyalty"
    "|luck lucky|mystery mysterious|noise noisy|nutrition nutritious|obese obesity|pain painful|poison poisonous"
    "|polite politeness|politics political|popular popularity|possible possibility|precise precision|private privacy"
    "|proud pride|rain rainy|reliable reliability|religion religious|responsible responsibility|rust rusty"
    "|sad sadly sadness|safe safety|salt salty|season seasonal|secure security|sensitive sensitivity|severe severity"
    "|sick sickness|silent silence|similar similarity|simple simply simplicity|sleepy sleepiness|slow slowness"
    "|snow snowy|spice spicy|stable stability|stress stressful|strong strength|sun sunny|sweet sweetness|taste tasty"
    "|thirst thirsty|tired tiredness|tradition traditional|true truth|urgent urgency|violent violence|warm warmth"
    "|weak weakness|wealthy wealth|wet wetness|wide width|wind windy|wise wisdom"
    # a person and the state of being one
    "|adult adulthood|child childhood|citizen citizenship|friend friendship|intern internship|member membership"
    "|mother motherhood|owner ownership|parent parenthood"
)
"""English word families, the word that stands for each first. Source: ours (common derivations)."""

_SPELLINGS = (
    "color colour|colorful colourful"
    "|favor favour|favorite favourite|flavor flavour|harbor harbour|honor honour|humor humour"
    "|labor labour|neighbor neighbour|neighborhood neighbourhood|odor odour|rumor rumour|tumor tumour|vapor vapour"
    "|armor armour|savor savour|savory savoury|endeavor endeavour|vigor vigour|parlor parlour|mold mould"
    "|center centre|theater theatre|meter metre|kilometer kilometre|centimeter centimetre|millimeter millimetre"
    "|liter litre|milliliter millilitre|fiber fibre|caliber calibre|somber sombre|meager meagre|specter spectre"
    "|catalog catalogue|dialog dialogue|analog analogue|gray grey|program programme|tire tyre|plow plough|curb kerb"
    "|pajamas pyjamas|aluminum aluminium|jewelry jewellery|mustache moustache|cozy cosy|skeptical sceptical"
    "|license licence|practice practise|defense defence|pretense pretence|airplane aeroplane|maneuver manoeuvre"
    "|pediatric paediatric|anemia anaemia|diarrhea diarrhoea|estrogen oestrogen|fetus foetus|sulfur sulphur"
    "|encyclopedia encyclopaedia|archeology archaeology|orthopedic orthopaedic|donut doughnut|omelet omelette"
    "|yogurt yoghurt|whiskey whisky|chili chilli|artifact artefact|inquire enquire|inquiry enquiry"
    "|installment instalment|skillful skilful|willful wilful|woolen woollen|ax axe|disk disc|specialty speciality"
    "|travel travelled|label labelled|model modelled|level levelled|signal signalled|fuel fuelled|total totalled"
    "|equal equalled|dial dialled|marvel marvelled marvellous marvelous|counsel counselled|channel channelled"
    "|tunnel tunnelled|quarrel quarrelled|control controlled|patrol patrolled|excel excelled|counselor counsellor"
    "|traveler traveller"
    "|acknowledge acknowledgement acknowledgment|analyze analysis|organization organisation"
)
"""British and American spellings, the American one first; ``-ise`` and ``-ize`` are a rule of the stemmer.

Source: ours.
"""
