/// Numbers made of names: the same ones in every process.
enum StableHash {
    /// 32-bit FNV-1a.
    static func of(_ text: String) -> UInt32 {
        text.utf8.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }

    /// A number for each name, 1 ... 2³¹ − 1, no two alike.
    ///
    /// A number is made of its name alone, unless two names would have the same: then the name that is first in the order
    /// of texts has it, and the other one the next free number.
    /// - Parameter names: unique.
    static func numbers(of names: some Sequence<String>) -> [String: Int] {
        var used: Set<Int> = []
        var numbers: [String: Int] = [:]
        for name in names.sorted() {
            var number = max(1, Int(of(name) & 0x7FFF_FFFF))
            while !used.insert(number).inserted { number = number % 0x7FFF_FFFF + 1 }
            numbers[name] = number
        }
        return numbers
    }
}
