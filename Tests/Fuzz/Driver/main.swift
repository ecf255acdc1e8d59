import CFuzzer
import Foundation
import FuzzEntries

// fuzz --list                  the entries' names and what they take
// fuzz --seeds NAME DIRECTORY  writes an entry's seeds there
// fuzz --dictionary NAME       prints an entry's words in libFuzzer's notation
// fuzz --largest NAME          prints how many bytes its inputs have at most
// Otherwise libFuzzer's own arguments, for the entry that LIVERELAY_FUZZ names: libFuzzer starts itself again with the
// arguments it was given, so the name is none of them.

func fail(_ words: String) -> Never {
    FileHandle.standardError.write(Data("fuzz: \(words)\n".utf8))
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

/// Each word in quotes, its bytes as \xHH where they are not plain.
func dictionary(_ words: [String]) -> String {
    words.map { word in
        let text = word.utf8.map { byte in
            (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "\"\(text.joined())\"\n"
    }.joined()
}

let arguments = CommandLine.arguments.dropFirst()
switch arguments.first {
case "--list":
    for entry in FuzzEntry.all { print("\(entry.name)\t\(entry.about)") }
case "--seeds":
    try writeSeeds(of: entry(arguments.dropFirst().first), to: arguments.dropFirst(2).first ?? ".")
case "--dictionary":
    print(dictionary(entry(arguments.dropFirst().first).dictionary), terminator: "")
case "--largest":
    print(entry(arguments.dropFirst().first).largest)
default:
    exit(unsafe Fuzzing.run())
}
