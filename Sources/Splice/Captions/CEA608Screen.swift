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
