"""What each class of characters costs, in tokens, by family of tokenizers; and the margin of each family.

Written by ``python -m benchmarks.fit_tokens``, not by hand. It was fitted to 3,122 texts of 45 kinds
(languages, code, markup, data, logs) with the true counts of each tokenizer; no text is kept. Mean
absolute error of a text, in percent, the kinds counting the same:

======== ====== ======== ======
family   fitted left out margin
======== ====== ======== ======
cl100k      5.4      9.0   0.19
o200k       5.5      7.5   0.16
qwen        5.8      9.8   0.18
deepseek    5.4      8.5   0.14
llama3      5.3     10.8   0.12
tekken      5.5      7.1   0.11
======== ====== ======== ======

"left out" means by weights that were fitted without the kind. The margin is the smallest by which at most 1 % of
prompts of 4,000 to 48,000 tokens of three kinds, each counted without its kind, lie over their estimate.

Random strings (``hump by digit``) and the scripts that ordinary texts hardly hold were fitted after that, to 3,540
texts of 49 hard kinds as well.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["MARGINS", "PROFILES", "WEIGHTS"]

PROFILES = ("cl100k", "o200k", "qwen", "deepseek", "llama3", "tekken")
"""The families of tokenizers, in the order of the columns."""

MARGINS: Mapping[str, float] = {
    "cl100k": 0.19,
    "o200k": 0.16,
    "qwen": 0.18,
    "deepseek": 0.14,
    "llama3": 0.12,
    "tekken": 0.11,
}
"""By family, how far a prompt may lie over its estimate, as a share of it."""

WEIGHTS: Mapping[str, tuple[float, ...]] = {
    "word": (0.775, 0.702, 0.691, 0.755, 0.682, 0.728),
    "word 4": (0.345, 0.409, 0.509, 0.323, 0.505, 0.377),
    "word 8": (0.508, 0.49, 0.524, 0.697, 0.498, 0.626),
    "word 12": (0.592, 0.514, 0.605, 0.606, 0.613, 0.543),
    "long word": (0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    "rare letter": (0.63, 0.575, 0.613, 0.353, 0.671, 0.48),
    "consonants": (1.016, 0.906, 0.938, 0.764, 1.03, 0.951),
    "hump": (0.415, 0.474, 0.346, 0.442, 0.376, 0.559),
    "short hump": (0.132, 0.183, 0.102, 0.19, 0.139, 0.17),
    "hump by digit": (1.787, 1.18, 1.927, 2.271, 1.691, 1.6),
    "capital": (0.437, 0.256, 0.484, 0.21, 0.462, 0.334),
    "upper case": (0.023, 0.039, 0.004, 0.057, 0.016, 0.084),
    "digit": (0.271, 0.271, 0.96, 0.289, 0.27, 0.958),
    "digits": (1.04, 1.049, 0.6, 0.913, 1.108, 0.511),
    "digits after space": (0.574, 0.563, 0.475, 0.597, 0.482, 0.56),
    "mark": (0.114, 0.169, 0.126, 0.173, 0.121, 0.167),
    "marks": (0.332, 0.318, 0.277, 0.452, 0.287, 0.369),
    "marks after space": (0.633, 0.596, 0.666, 0.457, 0.614, 0.449),
    "marks after script": (0.099, 0.372, 0.154, 0.106, 0.046, 0.631),
    "line end after text": (0.362, 0.39, 0.369, 0.517, 0.374, 0.56),
    "line end": (0.314, 0.266, 0.354, 0.43, 0.376, 0.378),
    "spaces": (0.694, 0.768, 0.616, 0.663, 0.687, 0.722),
    "sixteen spaces": (0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    "tab": (0.38, 0.442, 0.379, 0.52, 0.385, 0.431),
    "control": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    "latin accented": (1.061, 0.25, 0.688, 0.96, 0.661, 0.293),
    "latin extended": (1.596, 0.873, 0.967, 1.544, 0.592, 0.962),
    "latin signs": (0.1, 0.1, 0.1, 0.1, 0.1, 0.1),
    "combining": (1.001, 1.001, 1.001, 1.001, 1.001, 1.001),
    "greek": (1.061, 0.41, 1.018, 0.526, 0.44, 0.421),
    "cyrillic rare": (4.0, 4.0, 4.0, 4.0, 4.0, 4.0),
    "cyrillic": (0.593, 0.32, 0.475, 0.397, 0.337, 0.332),
    "kazakh": (3.301, 0.216, 2.461, 1.964, 3.702, 1.207),
    "cyrillic extended": (3.584, 2.183, 2.729, 3.357, 4.0, 3.396),
    "armenian": (2.375, 0.377, 1.315, 0.675, 2.056, 0.402),
    "hebrew": (1.174, 0.454, 0.441, 0.57, 1.131, 0.551),
    "uyghur": (3.375, 1.695, 3.401, 3.341, 4.0, 4.0),
    "urdu": (3.52, 0.587, 3.787, 1.692, 3.49, 1.024),
    "arabic": (0.862, 0.39, 0.475, 0.465, 0.45, 0.371),
    "syriac": (2.234, 2.235, 1.234, 2.23, 2.233, 2.23),
    "other alphabets": (2.112, 2.118, 1.981, 2.117, 2.119, 2.116),
    "devanagari": (1.231, 0.32, 1.129, 0.659, 0.602, 0.346),
    "bengali": (1.437, 0.407, 1.226, 0.517, 1.434, 0.54),
    "thai": (0.982, 0.434, 0.579, 0.384, 0.486, 0.539),
    "tamil": (1.536, 0.369, 1.232, 0.594, 1.537, 0.427),
    "telugu": (2.017, 0.499, 1.718, 0.866, 2.019, 0.565),
    "kannada": (2.016, 0.452, 1.575, 0.834, 2.017, 0.523),
    "malayalam": (1.829, 0.381, 1.49, 0.9, 1.811, 0.557),
    "gujarati": (2.012, 0.435, 1.783, 0.994, 2.014, 0.718),
    "gurmukhi": (2.027, 0.655, 1.885, 1.14, 2.016, 0.757),
    "odia": (2.982, 1.164, 2.324, 1.302, 2.937, 3.126),
    "sinhala": (2.182, 0.648, 1.727, 1.131, 2.172, 3.17),
    "lao": (2.176, 1.879, 1.311, 1.832, 2.028, 3.004),
    "other indic": (2.093, 1.534, 1.378, 1.147, 2.092, 2.349),
    "latin vietnamese": (0.727, 0.25, 0.25, 0.25, 0.25, 0.25),
    "burmese": (2.101, 0.579, 1.633, 0.971, 2.101, 0.619),
    "georgian": (2.126, 0.347, 1.128, 0.818, 2.128, 0.495),
    "ethiopic": (2.979, 2.216, 1.534, 2.31, 2.976, 2.971),
    "khmer": (1.776, 0.589, 1.296, 1.346, 1.808, 3.059),
    "other scripts": (3.012, 3.225, 2.038, 3.005, 3.015, 2.971),
    "han": (1.199, 0.753, 0.665, 0.587, 0.8, 0.947),
    "wide punctuation": (0.458, 0.44, 0.338, 0.351, 0.341, 0.3),
    "kana": (0.927, 0.674, 0.595, 0.616, 0.632, 0.62),
    "hangul": (1.148, 0.676, 0.796, 0.77, 0.733, 0.606),
    "variation": (1.171, 1.153, 1.181, 1.214, 1.202, 1.283),
    "full width": (0.637, 0.767, 0.621, 0.696, 0.78, 0.3),
    "punctuation": (0.302, 0.553, 0.549, 0.352, 0.1, 0.391),
    "symbol": (1.314, 1.293, 1.018, 1.32, 1.321, 1.358),
    "emoji": (2.967, 2.066, 1.469, 2.1, 2.973, 3.909),
    "astral": (2.0, 2.0, 2.0, 2.0, 2.0, 2.0),
}
"""By class of ``token_estimate.CLASSES`` the tokens that each of it costs."""
