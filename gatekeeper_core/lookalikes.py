"""Characters that look like those of a mark: the targets, and what is read as each.

Written by ``python -m benchmarks.lookalikes``, not by hand, from Unicode's confusables.txt 17.0.0; see NOTICE. A
letter or digit that compatibility decomposition takes to its target is left out.
"""

from __future__ import annotations

__all__ = ["BLANKS", "LOOKALIKES"]

BLANKS = "\u115f\u1160\u3164\uffa0\u2800"
"""Characters that show nothing, apart from marks, separators, controls and unassigned ones."""

LOOKALIKES: dict[str, str] = {
    "-": "\u02d7\u06d4\u2010\u2011\u2012\u2013\u2043\u207b\u208b\u2212\u2238\u2796"
    "\u2a29\u2a2a\u2cb2\u2cb3\u2cba\u2cbb\u2e1a\ufe32\ufe63\uff0d",
    "/": "\u1735\u2041\u2044\u2215\u2571\u27cb\u29f6\u29f8\u2cc6\u2cc7\u2f03\u3033"
    "\u30ce\u31d3\u32e8\u4e3f\uff0f\uff89\U0001d23a",
    "2": "\u01bb\u14bf\ua6ef",
    "3": "\u0969\u0ae9\U000118ca\U00016f3b\U0001d206",
    "4": "\u13ce",
    "6": "\u0431\u13ee\u2cd3\U000118d5",
    "7": "\U000118c6\U0001d212",
    "8": "\u0223\u09ea\u0a6a\U0001031a\U0001e8cb",
    "9": "\u09ed\u0a67\u0b68\u0d6d\u2ccb\U000118cc\U000118d6",
    ":": "\u02d0\u02f8\u0589\u05c3\u0703\u0704\u16ec\u1803\u1809\u205a\u2236\ua4fd\ua789\ufe13\ufe55\uff1a\U00010781",
    "<": "\u02c2\u1438\u16b2\u2039\u226e\u276e\ufe64\uff1c\U0001d236",
    "[": "\ufe47\uff3b",
    "_": "\u07fa\ufe33\ufe34\ufe4d\ufe4e\ufe4f\uff3f",
    "a": "\u0251\u03b1\u0430\u13aa\u15c5\u2376\u237a\ua4ee\U000102a0\U00016f40",
    "aa": "\ua733",
    "ae": "\xe6\u04d5",
    "ao": "\ua735",
    "ar": "\U0001f707",
    "au": "\ua737",
    "av": "\ua739\ua73b",
    "ay": "\ua73d",
    "b": "\u0180\u0183\u0253\u0463\u048d\u13cf\u13f4\u1472\u1473\u15af\u15f7\ua4d0\U00010282\U000102a1\U00010301",
    "c": "\xa2\u023c\u0441\u04ab\u1004\u105a\u13df\u1d04\u20a1\u2ca5\ua4da\U000102a2"
    "\U00010302\U0001043d\U0001051c\U000118e9\U000118f2\U0001f16e\U0001f74c",
    "cc": "\U0001f16d",
    "d": "\u0111\u018c\u0256\u0257\u0501\u13a0\u13e7\u146f\u15de\u15ea\u20ab\ua4d2\ua4d3",
    "dz": "\u02a3",
    "e": "\u0247\u0435\u04bd\u04bf\u13ac\u212e\u22ff\u2d39\ua4f0\uab32\U00010286",
    "f": "\u0192\u0584\u15b4\u1d6e\u1e9d\ua4dd\ua799\uab35\U00010287\U000102a5\U00010525\U000118c2\U0001d213",
    "fn": "\u02a9",
    "g": "\u018d\u01e5\u0260\u0261\u0581\u13c0\u13f3\u1d83\ua4d6",
    "h": "\u0127\u0266\u045b\u04bb\u0570\u13bb\u13c2\u13f2\u157c\ua4e7\ua695\U000102cf",
    "j": "\u0249\u03f3\u0458\u13ab\u148d\ua4d9",
    "k": "\u0199\u13e6\u16d5\u20ad\ua4d7\U00010518",
    "l": "1i|\u0131\u0142\u019a\u01c0\u0268\u0269\u026a\u026b\u026d"
    "\u03b9\u0456\u04cf\u0582\u05c0\u05d5\u05df\u0627\u0661\u0673\u06f1\u07ca"
    "\u13a5\u13de\u14aa\u16c1\u1d7b\u1d7c\u2223\u2373\u2378\u23fd\u2c93\u2d4f"
    "\ua4e1\ua4f2\ua647\U0001028a\U00010309\U00010320\U00010526\U000118c3\U00016f16\U00016f28\U0001d22a\U0001e8c7",
    "ll": "\u01c1\u05f0\u2016\u2225\U00010199",
    "lls": "\U00010198",
    "lo": "\u23e8",
    "ls": "\u02aa",
    "lt": "\u20b6",
    "lz": "\u02ab",
    "n": "\u014b\u019e\u0273\u03b7\u0572\u0578\u057c\u1d70\ua4e0\U0001018e\U00010513",
    "o": "0\xf8\u0275\u03b8\u03bf\u03c3\u03ed\u043e\u0473\u04e9\u0585\u05e1"
    "\u0647\u0665\u06be\u06c1\u06d5\u06f5\u06ff\u07c0\u0966\u09e6\u0a66\u0ae6"
    "\u0b20\u0b66\u0be6\u0c66\u0ce6\u0d20\u0d66\u0e50\u0ed0\u1010\u101d\u1040"
    "\u10d7\u10ff\u12d0\u13be\u13eb\u17e0\u1d0f\u1d11\u2296\u229d\u236c\u2c91"
    "\u2c9f\u2d31\u2d41\u2d54\u3007\ua4f3\ua74b\uab3d\uab3e\U00010292\U000102ab\U0001042c"
    "\U000104ea\U00010516\U000114d0\U000118c8\U000118d7\U000118e0\U0001d21a\U0001f714",
    "oe": "\u0153",
    "oo": "\u221e\ua699\ua74f",
    "p": "\xfe\u01a5\u01bf\u03c1\u03f8\u0440\u13e2\u146d\u1d7d\u2374\u2ca3\u2ccf\ua4d1\U00010295",
    "q": "\u02a0\u051b\u0563\u0566\u2d55",
    "qe": "\U0001f700",
    "r": "\u024d\u027c\u027d\u0433\u0493\u13a1\u13d2\u1587\u1d26\u1d72\u2c85\ua4e3\uab47\uab48\U00016f35\U0001d216",
    "rn": "m\u0271\u13b7\u15f0\u16d6\u1d6f\u20a5\ua4df\U000102b0\U00010311\U00011700\U000118e3",
    "rnb": "\U0001f76b",
    "s": "\u01bd\u0282\u0455\u0d1f\u13d5\u13da\u1d74\ua4e2\ua731\U00010296\U00010448\U000118c1\U00016f3a",
    "ss": "\u03b2\u13f0\ua7b5",
    "sss": "\U0001f75c",
    "t": "\u0167\u01ad\u13a2\u1d75\u20ae\u22a4\u2361\u27d9\ua4d4\U00010297\U000102b1\U00010315\U00016f0a\U0001f768",
    "tf": "\ua777",
    "ts": "\u02a6",
    "u": "\u028b\u03c5\u045f\u057d\u1200\u13cc\u144c\u1d1c\u1d7e\u222a\u22c3\ua4f4"
    "\ua79f\uab4e\uab52\U000104f6\U000118d8\U00016f42",
    "ue": "\u1d6b",
    "uo": "\uab63",
    "v": "\u03bd\u0475\u05d8\u0667\u06f7\u13d9\u142f\u1d20\u2228\u22c1\u2d38\ua4e6"
    "\ua6df\U00010197\U0001051d\U00011706\U000118c0\U00016f08\U0001d20d\U0001f708",
    "vb": "\U0001f76c",
    "w": "\u026f\u0448\u0461\u047d\u051d\u0561\u13b3\u13d4\u1d21\u20a9\u2cbd\ua4ea"
    "\ua761\U000114c5\U0001170a\U0001170e\U0001170f\U000118e6\U000118ef",
    "x": "\xd7\u0445\u1541\u157d\u166d\u166e\u16b7\u2573\u292b\u292c\u2a2f\u2a30"
    "\u2d5d\ua4eb\U00010196\U00010290\U000102b4\U00010317\U00010322\U00010527\U000118ec",
    "y": "\xa5\u01b4\u024f\u0263\u028f\u03b3\u0443\u04af\u04b1\u10e7\u13a9\u13bd"
    "\u1d8c\u1eff\u2ca9\ua4ec\uab5a\U000102b2\U000118dc\U00016f43",
    "z": "\u01b6\u0225\u0290\u13c3\u1d22\u1d76\ua4dc\U000102f5\U000118c4\U000118e5",
}
