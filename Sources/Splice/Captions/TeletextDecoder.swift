import Demux
import Media

/// Decodes one teletext page with subtitles (ETSI EN 300 706 level 1): its packets to the text in its boxes. Colours and
/// mosaics are left out.
struct TeletextDecoder: Sendable {
    private let page: TeletextPage
    private var rows: [Int: [UInt8]] = [:]
    private var header: TeletextPacket.Header?
    private var isReceiving = false

    init(page: TeletextPage) { self.page = page }

    private static let rowCount = 24
    private static let doubleHeight: UInt8 = 0x0D

    private var displayed: [(row: Int, text: String)] {
        guard let header, !header.inhibitsDisplay else { return [] }
        let characters = TeletextCharacters(subset: header.characterSubset, language: page.language)
        var lines: [(row: Int, text: String)] = []
        var isCovered = false  // by the double height of the row above
        for row in 1...Self.rowCount {
            defer { isCovered = !isCovered && (rows[row] ?? []).contains(Self.doubleHeight) }
            guard !isCovered, let codes = rows[row] else { continue }
            let text = Self.text(of: codes, in: characters)
            if !text.isEmpty { lines.append((row, text)) }
        }
        return lines
    }

    var lines: [String] { displayed.map(\.text) }

    /// Whether all text stands in the upper third, where it hides nothing that is written below.
    var isAtTop: Bool { displayed.last.map { $0.row <= Self.rowCount / 3 } ?? false }

    mutating func erase() { rows = [:] }

    mutating func decode(_ packet: TeletextPacket) -> Bool {
        switch packet.content {
        case .header(let header):
            if packet.isHeader(of: page) {
                isReceiving = true
                self.header = header
                if header.erasesPage { erase() }
                return true
            }
            if header.isSerial || packet.magazine == page.magazine { isReceiving = false }
            return false
        case .row(let number, let codes):
            guard isReceiving, packet.magazine == page.magazine else { return false }
            rows[number] = codes
            return true
        }
    }
}

extension TeletextPage {
    fileprivate var magazine: Int { number >> 8 }
}

extension TeletextPacket {
    func isHeader(of page: TeletextPage) -> Bool {
        guard case .header(let header) = content else { return false }
        return magazine == page.magazine && header.page == page.number & 0xFF
    }
}

extension TeletextDecoder {
    /// The text in boxes of a row, whose spacing attributes are codes (ETSI EN 300 706 §12.2).
    private static func text(of codes: [UInt8], in characters: TeletextCharacters) -> String {
        var text = ""
        var (isBoxed, isMosaic, isConcealed) = (false, false, false)
        for code in codes {
            let isCapital = 0x40...0x5F ~= code  // characters among mosaics
            let isText = isBoxed && code > 0x20 && !isConcealed && (!isMosaic || isCapital)
            text.append(isText ? characters[code] : " ")
            switch code {
            case 0x00...0x07: (isMosaic, isConcealed) = (false, false)
            case 0x0A: isBoxed = false
            case 0x0B: isBoxed = true
            case 0x10...0x17: (isMosaic, isConcealed) = (true, false)
            case 0x18: isConcealed = true
            default: break
            }
        }
        return text.trimmingSpaces
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        let start = drop { $0 == " " }
        return String(start[..<(start.lastIndex { $0 != " " }.map { start.index(after: $0) } ?? start.startIndex)])
    }
}

/// The Latin characters of teletext (ETSI EN 300 706 §15.2, §15.6.2).
struct TeletextCharacters {
    /// The codes whose characters are those of a national option subset.
    private static let codes: [UInt8] = [
        0x23, 0x24, 0x40, 0x5B, 0x5C, 0x5D, 0x5E, 0x5F, 0x60, 0x7B, 0x7C, 0x7D, 0x7E,
    ]
    /// The subsets that C12 to C14 name in western Europe.
    private static let western = [
        "£$@←½→↑#—¼‖¾÷", "#$§ÄÖÜ^_°äöüß", "#¤ÉÄÖÅÜ_éäöåü", "£$é°ç→↑#ùàòèì", "éïàëêùî#èâôûç", "ç$¡áéíóú¿üñèà",
        "#ůčťžýířéáěúš",
    ]
    /// Subsets that are named otherwise elsewhere. Level 1 does not say where a page comes from, but its language does.
    private static let regional: [String: (subset: Int, characters: String)] = {
        let southern = (5, "#ËČĆŽĐŠëčćžđš")
        let baltic = (3, "#$ŠėęŽčūšąųžį")
        return [
            "pl": (0, "#ńąŻŚŁćóężśłź"), "tr": (6, "₺ğİŞÖÇÜĞışöçü"), "ro": (7, "#¤ȚÂȘĂÎıțâșăî"),
            "et": (2, "#õŠÄÖŽÜÕšäöžü"),
            "lt": baltic, "lv": baltic, "hr": southern, "sl": southern, "sr": southern, "bs": southern,
        ]
    }()

    private let national: [Character]

    init(subset: Int, language: LanguageTag) {
        let regional = Self.regional[language.text].flatMap { $0.subset == subset ? $0.characters : nil }
        national = Array(regional ?? (Self.western.indices.contains(subset) ? Self.western[subset] : Self.western[0]))
    }

    /// - Parameter code: 0x20 ... 0x7F.
    subscript(code: UInt8) -> Character {
        if let index = Self.codes.firstIndex(of: code) { return national[index] }
        return code == 0x7F ? "■" : Character(Unicode.Scalar(code))
    }
}
