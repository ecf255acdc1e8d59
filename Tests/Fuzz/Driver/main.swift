import Foundation
import FuzzEntries

// fuzz --list                  prints the names and descriptions of the entries
// fuzz --seeds NAME DIRECTORY  writes an entry's seeds to the directory
// fuzz --dictionary NAME       prints an entry's dictionary in libFuzzer's notation
// fuzz --largest NAME          prints the largest input size of an entry in bytes
// fuzz --replay NAME FILE…     runs an entry with the files, also in a build without libFuzzer
// fuzz --measure NAME FILE…    prints of each file: bytes, bytes held at once, allocations, bytes copied, steps, its path
// Other arguments go to libFuzzer. The environment variable LIVERELAY_FUZZ names its entry, because libFuzzer restarts
// itself with the same arguments.

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("fuzz: \(message)\n".utf8))
    exit(2)
}

func entry(_ name: String?) -> FuzzEntry {
    guard let found = name.flatMap(FuzzEntry.named) else { fail("there is no entry \(name ?? "without a name")") }
    return found
}

func writeSeeds(of entry: FuzzEntry, to directory: String) throws {
    let folder = URL(filePath: directory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for (number, seed) in try entry.seeds(CaptureSeeds()).enumerated() {
        try Data(seed.prefix(entry.largest)).write(to: folder.appending(path: "seed-\(number)"))
    }
}

func replay(_ entry: FuzzEntry, _ paths: some Sequence<String>) throws {
    for path in paths {
        print("\(entry.name): \(path)")
        try entry.run(Array(Data(contentsOf: URL(filePath: path))))
    }
}

/// The first run of an entry fills tables that are made once.
func measure(_ entry: FuzzEntry, _ paths: some Sequence<String>) throws {
    for (number, path) in paths.enumerated() {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        if number == 0 { try entry.run(bytes) }
        guard let cost = try CostMeter.cost(of: bytes, in: entry) else { fail("built without AddressSanitizer") }
        let figures = [bytes.count, cost.heldBytes, cost.allocations, cost.copiedBytes, cost.steps]
        print(figures.map(String.init).joined(separator: "\t") + "\t\(path)")
    }
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "--list":
    for entry in FuzzEntry.all { print("\(entry.name)\t\(entry.about)") }
case "--seeds":
    try writeSeeds(of: entry(arguments.dropFirst().first), to: arguments.dropFirst(2).first ?? ".")
case "--dictionary":
    for word in entry(arguments.dropFirst().first).dictionary { print(word.quoted) }
case "--largest":
    print(entry(arguments.dropFirst().first).largest)
case "--replay":
    try replay(entry(arguments.dropFirst().first), arguments.dropFirst(2))
case "--measure":
    try measure(entry(arguments.dropFirst().first), arguments.dropFirst(2))
default:
    exit(LibFuzzer.run())
}
