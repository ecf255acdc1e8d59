/// Letters of other scripts in ASCII, for names in paths.
///
/// The Unicode name of a letter of Latin script decides: `LATIN SMALL LETTER E WITH ACUTE` is an e, and `MODIFIER
/// LETTER CAPITAL H`, which channel lists use for a raised HD, is an h.
package enum LatinLetters {
    package enum Counterpart: Equatable {
        /// Lower-case letters and digits.
        case text(String)
        /// Neither a letter nor a digit.
        case separator
        /// Part of the preceding letter, such as a combining accent.
        case mark
        /// A letter without counterpart.
        case foreign
    }

    package static func letters(for scalar: Unicode.Scalar) -> Counterpart {
        switch scalar {
        case "a"..."z", "0"..."9": return .text(String(scalar))
        case "A"..."Z": return .text(scalar.properties.lowercaseMapping)
        case _ where scalar.isASCII: return scalar == "+" ? .text("plus") : scalar == "&" ? .text("and") : .separator
        default: return foreignLetters(for: scalar)
        }
    }

    private static func foreignLetters(for scalar: Unicode.Scalar) -> Counterpart {
        let properties = scalar.properties
        if let letters = table[properties.lowercaseMapping] { return .text(letters) }
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .spacingMark, .format, .control: return .mark
        case .decimalNumber, .otherNumber:
            guard let value = properties.numericValue, (0..<10).contains(value), value.rounded() == value else {
                return .separator
            }
            return .text(String(Int(value)))
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            guard let name = properties.name else { return .foreign }
            return baseLetter(inName: name).map { .text($0) } ?? .foreign
        default: return .separator
        }
    }

    /// The letter X of "… LETTER X", "… LETTER X WITH …" or "MATHEMATICAL … X", with one or two characters.
    private static func baseLetter(inName name: String) -> String? {
        let words = name.split(separator: " ")
        let isLatin = words.contains("LATIN") || words.starts(with: ["MODIFIER", "LETTER"])
        let isMathematical = words.first == "MATHEMATICAL"
        guard isLatin || isMathematical else { return nil }
        let base = words.prefix { $0 != "WITH" }
        guard let letter = base.last, (1...2).contains(letter.count), letter.allSatisfy(\.isASCII) else { return nil }
        return letter.lowercased()
    }

    /// Cyrillic (as in passports, ICAO 9303), Greek (ISO 843), and the Latin letters whose names say something else.
    private static let table: [String: String] = [
        "ß": "ss", "þ": "th", "ð": "d", "ı": "i", "ŋ": "ng", "ə": "e", "ª": "a", "º": "o",
        "а": "a", "б": "b", "в": "v", "г": "g", "д": "d", "е": "e", "ё": "e", "ж": "zh", "з": "z", "и": "i", "й": "i",
        "к": "k", "л": "l", "м": "m", "н": "n", "о": "o", "п": "p", "р": "r", "с": "s", "т": "t", "у": "u", "ф": "f",
        "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ъ": "", "ы": "y", "ь": "", "э": "e", "ю": "iu",
        "я": "ia", "і": "i", "ї": "i", "є": "ie", "ґ": "g", "ў": "u", "ј": "j", "љ": "lj", "њ": "nj", "ћ": "c",
        "ђ": "dj", "џ": "dz", "қ": "q", "ғ": "gh", "ң": "ng", "ө": "o", "ү": "u", "ұ": "u", "һ": "h", "ә": "a",
        "α": "a", "β": "v", "γ": "g", "δ": "d", "ε": "e", "ζ": "z", "η": "i", "θ": "th", "ι": "i", "κ": "k", "λ": "l",
        "μ": "m", "ν": "n", "ξ": "x", "ο": "o", "π": "p", "ρ": "r", "σ": "s", "ς": "s", "τ": "t", "υ": "y", "φ": "f",
        "χ": "ch", "ψ": "ps", "ω": "o", "ά": "a", "έ": "e", "ή": "i", "ί": "i", "ό": "o", "ύ": "y", "ώ": "o",
        "ϊ": "i", "ϋ": "y", "ΐ": "i", "ΰ": "y",
    ]
}
