import Foundation

/// AES-128-CBC encryption by the openssl command line, independent of the code under test.
enum OpenSSLCommand {
    static let isInstalled = FileManager.default.isExecutableFile(atPath: path)
    private static let path = "/usr/bin/openssl"

    static func encrypt(_ clear: [UInt8], key: [UInt8], iv: [UInt8]) throws -> [UInt8] {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let input = directory.appending(path: "clear")
        let output = directory.appending(path: "encrypted")
        try Data(clear).write(to: input)
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = [
            "enc", "-aes-128-cbc", "-K", key.hex, "-iv", iv.hex, "-in", input.path, "-out", output.path,
        ]
        try process.run()
        process.waitUntilExit()
        return Array(try Data(contentsOf: output))
    }
}

extension [UInt8] {
    var hex: String { map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    init(hex: String) {
        let digits: [Int] = hex.compactMap(\.hexDigitValue)
        self = stride(from: 0, to: digits.count, by: 2).map { index -> UInt8 in
            UInt8(digits[index] << 4 | digits[index + 1])
        }
    }
}
