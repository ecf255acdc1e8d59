import Demux

/// Decodes one caption channel of CEA-608 (CTA-608 §C): the byte pairs of the pictures, in presentation order, to what is
/// on the screen. Colours and styles are left out.
struct CEA608Decoder: Sendable {
    /// How text gets on the screen.
    private enum Style: Equatable {
        /// Text is loaded while another is shown.
        case popOn
        case rollUp(rows: Int)
        case paintOn
    }

    private let channel: Int
    private var style: Style?
    private var screen = CEA608Screen()
    private var loaded = CEA608Screen()
    /// Whether the codes and the text of the field are now of this channel.
    private var isSelected = false
    /// Control codes are sent twice. The second one counts for nothing.
    private var lastControl: (UInt8, UInt8)?

    /// - Parameter channel: 1 ... 4.
    init(channel: Int) { self.channel = channel }

    var lines: [String] { screen.lines }

    var isAtTop: Bool { screen.isAtTop }

    var writesOnScreen: Bool { style != .popOn }

    /// - Returns: whether the pair has something of the channel.
    mutating func decode(_ pair: CEA608Pair) -> Bool {
        guard pair.field == (channel - 1) / 2 else { return false }
        let (first, second) = (pair.first & 0x7F, pair.second & 0x7F)
        guard pair.first.nonzeroBitCount % 2 == 1, pair.second.nonzeroBitCount % 2 == 1 else {
            lastControl = nil
            return false
        }
        // Nothing, which may stand between the two of a code.
        if first == 0 { return false }
        let isControl = 0x10...0x1F ~= first
        let isRepeated = isControl && lastControl.map { $0 == (first, second) } ?? false
        lastControl = isControl && !isRepeated ? (first, second) : nil
        if isControl {
            if !isRepeated { control(first, second, field: pair.field) }
            return isSelected
        }
        guard first >= 0x20 else {
            isSelected = false  // extended data services
            return false
        }
        guard isSelected, style != nil else { return false }
        for byte in [first, second] { if let character = CEA608Characters.basic(byte) { write(character) } }
        return true
    }

    /// Reads a control code, which also says of which channel the field is from here on.
    private mutating func control(_ first: UInt8, _ second: UInt8, field: Int) {
        isSelected = (first & 0x08 == 0 ? 1 : 2) + field * 2 == channel
        if isSelected { control(first & 0x77, second) }
    }

    mutating func erase() { screen.erase() }

    private mutating func write(_ character: Character) { edit { $0.write(character) } }

    private mutating func edit(_ change: (inout CEA608Screen) -> Void) {
        if style == .popOn { change(&loaded) } else if style != nil { change(&screen) }
    }

    /// - Parameter first: without the bit of the channel.
    private mutating func control(_ first: UInt8, _ second: UInt8) {
        switch (first, second) {
        case (0x14, 0x20...0x2F), (0x15, 0x20...0x2F): command(second)
        case (0x17, 0x21...0x23): edit { $0.move(by: Int(second & 0x03)) }
        case (0x11, 0x20...0x2F): write(" ")  // a change of style takes a column
        case (0x11, 0x30...0x3F): write(CEA608Characters.special[Int(second - 0x30)])
        case (0x12, 0x20...0x3F): replace(with: CEA608Characters.extended[Int(second - 0x20)])
        case (0x13, 0x20...0x3F): replace(with: CEA608Characters.extended[Int(second - 0x20) + 32])
        case (_, 0x40...0x7F): address(first, second)
        default: break
        }
    }

    /// An extended character follows a basic one that stands in for it.
    private mutating func replace(with character: Character) {
        edit {
            $0.backspace()
            $0.write(character)
        }
    }

    private mutating func command(_ code: UInt8) {
        switch code {
        case 0x20: style = .popOn
        case 0x21: edit { $0.backspace() }
        case 0x24: edit { $0.deleteToEndOfRow() }
        case 0x25...0x27: beginRollUp(rows: Int(code - 0x23))
        case 0x29: style = .paintOn
        case 0x2A, 0x2B: style = nil  // text mode
        case 0x2C: screen.erase()
        case 0x2D: if case .rollUp(let rows) = style { screen.rollUp(rows) }
        case 0x2E: loaded.erase()
        case 0x2F:
            style = .popOn
            swap(&screen, &loaded)
        default: break
        }
    }

    private mutating func beginRollUp(rows: Int) {
        if case .rollUp = style {
        } else {
            screen.erase()
            loaded.erase()
            screen.move(toRow: CEA608Screen.rowCount - 1, column: 0)
        }
        style = .rollUp(rows: rows)
    }

    /// A preamble address code: the row, and the column of its indent.
    private mutating func address(_ first: UInt8, _ second: UInt8) {
        guard let rows = Self.rows[first] else { return }
        let row = second & 0x20 == 0 || first == 0x10 ? rows : rows + 1
        let column = second & 0x10 == 0 ? 0 : Int(second >> 1 & 0x07) * 4
        if case .rollUp = style, row != screen.row { screen.moveBase(to: row) }
        edit { $0.move(toRow: row, column: column) }
    }

    /// The first of the two rows that a preamble address code may name, from 0.
    private static let rows: [UInt8: Int] = [
        0x10: 10, 0x11: 0, 0x12: 2, 0x13: 11, 0x14: 13, 0x15: 4, 0x16: 6, 0x17: 8,
    ]
}

/// The characters of CEA-608 (CTA-608 §B.1, tables 49 to 51).
private enum CEA608Characters {
    static let special = Array("®°½¿™¢£♪à èâêîôû")
    static let extended = Array("ÁÉÓÚÜü‘¡*’—©℠•“”ÀÂÇÈÊËëÎÏïÔÙùÛ«»ÃãÍÌìÒòÕõ{}\\^_|~ÄäÖöß¥¤│ÅåØø┌┐└┘")

    private static let replaced: [UInt8: Character] = [
        0x27: "’", 0x2A: "á", 0x5C: "é", 0x5E: "í", 0x5F: "ó", 0x60: "ú", 0x7B: "ç", 0x7C: "÷", 0x7D: "Ñ", 0x7E: "ñ",
        0x7F: "█",
    ]

    static func basic(_ byte: UInt8) -> Character? {
        guard byte >= 0x20 else { return nil }
        return replaced[byte] ?? Character(Unicode.Scalar(byte))
    }
}

/// The fifteen rows of 32 columns that captions of CEA-608 are written to.
struct CEA608Screen: Sendable {
    static let rowCount = 15
    private static let columnCount = 32

    private var rows = [[Character]](repeating: [], count: rowCount)
    private(set) var row = rowCount - 1
    private var column = 0

    private var isEmpty: Bool { rows.allSatisfy { $0.allSatisfy { $0 == " " } } }

    var lines: [String] {
        rows.map { row in
            let text = row.drop { $0 == " " }
            return String(text[..<(text.lastIndex { $0 != " " }.map { $0 + 1 } ?? text.startIndex)])
        }
        .filter { !$0.isEmpty }
    }

    /// Whether all text stands in the upper third, where it hides nothing that is written below.
    var isAtTop: Bool { !isEmpty && rows[(Self.rowCount / 3)...].allSatisfy(\.isEmpty) }

    mutating func move(toRow row: Int, column: Int) { (self.row, self.column) = (row, column) }

    mutating func move(by columns: Int) { column = min(column + columns, Self.columnCount - 1) }

    mutating func write(_ character: Character) {
        while rows[row].count <= column { rows[row].append(" ") }
        rows[row][column] = character
        move(by: 1)
    }

    mutating func backspace() {
        column = max(0, column - 1)
        if column < rows[row].count { rows[row][column] = " " }
    }

    mutating func deleteToEndOfRow() { rows[row].removeLast(max(0, rows[row].count - column)) }

    mutating func erase() { rows = Array(repeating: [], count: Self.rowCount) }

    /// Moves the `count` rows that end at the cursor up by one; those above are erased.
    mutating func rollUp(_ count: Int) {
        let first = max(0, row - count + 1)
        for index in rows.indices { rows[index] = (first..<row).contains(index) ? rows[index + 1] : [] }
        column = 0
    }

    /// Moves the rows that end at the cursor to end at another row.
    mutating func moveBase(to base: Int) {
        let moved = rows
        for index in rows.indices {
            let source = index + row - base
            rows[index] = moved.indices.contains(source) ? moved[source] : []
        }
        move(toRow: base, column: 0)
    }
}
