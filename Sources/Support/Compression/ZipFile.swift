import CZlib

/// A ZIP file of small files that are stored as they are (PKWARE's APPNOTE.TXT, version 2.0).
package struct ZipFile {
    /// The largest number of files in an archive without the ZIP64 extensions.
    package static let fileLimit = 65_535

    private var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var fileCount = 0

    package init() {}

    /// Adds a file, unless the archive contains `fileLimit` files already.
    /// - Parameters:
    ///   - path: with `/` between names, in UTF-8.
    ///   - date: UTC, at which the file was made; times before 1980 are 1980.
    package mutating func append(_ path: String, _ content: [UInt8], at date: ProgramDateTime) {
        guard fileCount < Self.fileLimit, bytes.count + content.count < Int(UInt32.max) else { return }
        let name = Array(path.utf8.prefix(Int(UInt16.max)))
        let offset = UInt32(bytes.count)
        // Version 2.0, names in UTF-8, stored.
        var common = Self.bytes(UInt16(20)) + Self.bytes(UInt16(1 << 11)) + Self.bytes(UInt16(0)) + Self.time(date)
        common += Self.bytes(Self.checksum(content))
        common += Self.bytes(UInt32(content.count)) + Self.bytes(UInt32(content.count))
        common += Self.bytes(UInt16(name.count)) + Self.bytes(UInt16(0))
        bytes += [0x50, 0x4B, 3, 4] + common + name + content
        // Made by version 2.0; no comment, disk 0, no attributes.
        directory += [0x50, 0x4B, 1, 2] + Self.bytes(UInt16(20)) + common + [UInt8](repeating: 0, count: 10)
        directory += Self.bytes(offset) + name
        fileCount += 1
    }

    package consuming func finished() -> [UInt8] {
        let count = Self.bytes(UInt16(fileCount))
        let end = Self.bytes(UInt32(directory.count)) + Self.bytes(UInt32(bytes.count)) + Self.bytes(UInt16(0))
        return bytes + directory + [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + count + count + end
    }

    private static func checksum(_ content: [UInt8]) -> UInt32 {
        unsafe content.withUnsafeBufferPointer { bytes in
            UInt32(truncatingIfNeeded: unsafe crc32(0, bytes.baseAddress, UInt32(bytes.count)))
        }
    }

    /// Time and date in the format of MS-DOS, in steps of two seconds.
    private static func time(_ date: ProgramDateTime) -> [UInt8] {
        let seconds = max(date.millisecondsSince1970 / 1000, 315_532_800)
        let (day, rest) = (CivilDate(daysSince1970: seconds / 86_400), seconds % 86_400)
        let time = (rest / 3600) << 11 | (rest / 60 % 60) << 5 | rest % 60 / 2
        let year = min(day.year - 1980, 127)
        return bytes(UInt16(time)) + bytes(UInt16(year << 9 | day.month << 5 | day.day))
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        stride(from: 0, to: number.bitWidth, by: 8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }
}
