import Foundation
import Glibc
import Support

/// Reads the elements of a guide that lies in a file, compressed or not, in any encoding.
struct GuideReader {
    private static let partByteCount = 256 << 10
    let path: String
    let limits: GuideLimits
    /// Whether the result is no longer needed.
    var isCanceled: @Sendable () -> Bool = { false }

    /// Calls `receive` with each element, in order. For a large guide this blocks the thread for seconds.
    /// - Returns: the counts of the elements.
    func read(_ receive: (GuideElement) throws(GuideFault) -> Void) throws(GuideFault) -> GuideScanner.Counts {
        guard let file = FileHandle(forReadingAtPath: path) else { throw .unreadable(errno: errno) }
        defer { try? file.close() }
        var text = GuideTextReader(limits)
        var decompressor = Decompressor()
        var isLast = false
        while !isLast {
            let part = try next(of: file)
            isLast = part.isEmpty
            var fault: GuideFault?
            do throws(Decompressor.Failure) {
                try decompressor.decompress(part, isLast: isLast) { bytes in
                    do throws(GuideFault) {
                        if isCanceled() { throw .canceled }
                        try text.append(bytes, receive)
                    } catch { fault = error }
                    return fault == nil
                }
            } catch { throw fault ?? .damaged }
        }
        try text.finish(receive)
        guard text.counts.channels + text.counts.programs > 0 else { throw .notAGuide }
        return text.counts
    }

    private func next(of file: FileHandle) throws(GuideFault) -> [UInt8] {
        do { return Array(try file.read(upToCount: Self.partByteCount) ?? Data()) } catch {
            throw .unreadable(errno: errno)
        }
    }
}

private struct GuideTextReader: ~Copyable {
    private var scanner: GuideScanner
    private var decoder: GuideTextDecoder?
    /// The first bytes, until they suffice to determine the encoding.
    private var head: [UInt8] = []
    private var byteCount = 0
    /// The length of text that contains the XML declaration.
    private static let headByteCount = 200
    private let limits: GuideLimits

    init(_ limits: GuideLimits) {
        self.limits = limits
        scanner = GuideScanner(limits: limits)
    }

    var counts: GuideScanner.Counts { scanner.counts }

    mutating func append(
        _ bytes: [UInt8], _ receive: (GuideElement) throws(GuideFault) -> Void
    ) throws(GuideFault) {
        byteCount += bytes.count
        guard byteCount <= limits.textBytes else { throw .tooLarge }
        guard decoder != nil else {
            head += bytes
            if head.count >= Self.headByteCount { try begin(receive) }
            return
        }
        try scan(bytes, receive)
    }

    mutating func finish(_ receive: (GuideElement) throws(GuideFault) -> Void) throws(GuideFault) {
        if decoder == nil { try begin(receive) }
        scanner.finish()
        while let element = scanner.next() { try receive(element) }
    }

    private mutating func begin(_ receive: (GuideElement) throws(GuideFault) -> Void) throws(GuideFault) {
        decoder = try GuideTextDecoder(head: head)
        let first = head
        head = []
        try scan(first, receive)
    }

    private mutating func scan(
        _ bytes: [UInt8], _ receive: (GuideElement) throws(GuideFault) -> Void
    ) throws(GuideFault) {
        scanner.append(decoder?.decode(bytes) ?? bytes)
        while let element = scanner.next() { try receive(element) }
    }
}

/// Converts the text of a guide to UTF-8, in parts.
@safe private struct GuideTextDecoder: ~Copyable {
    /// nil: the text is UTF-8 already.
    private let converter: iconv_t?
    /// The beginning of a character whose end is in the next part.
    private var pending: [UInt8] = []

    /// - Parameter head: the first bytes of the text, including the XML declaration if present.
    /// - Throws: `.unknownEncoding`.
    init(head: [UInt8]) throws(GuideFault) {
        guard let name = Self.encoding(of: head) else {
            unsafe converter = nil
            return
        }
        let opened = unsafe iconv_open("UTF-8", name)
        guard Int(bitPattern: opened) != -1 else { throw .unknownEncoding(name) }
        unsafe converter = opened
    }

    deinit { if let converter = unsafe converter { _ = unsafe iconv_close(converter) } }

    /// The name of the encoding; nil if it is UTF-8 or unknown.
    static func encoding(of head: [UInt8]) -> String? {
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0x3C, 0, 0x3F, 0]) { return "UTF-16LE" }
        if head.starts(with: [0xFE, 0xFF]) || head.starts(with: [0, 0x3C, 0, 0x3F]) { return "UTF-16BE" }
        let text = String(decoding: head.prefix(200), as: UTF8.self)
        guard let declaration = text.firstMatch(of: /<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._:\-]+)["']/) else {
            return nil
        }
        let name = declaration.1.uppercased()
        // A text that begins in ASCII is not UTF-16, whatever its declaration states.
        return ["UTF-8", "UTF8", "US-ASCII", "ASCII"].contains(name) || name.hasPrefix("UTF-16") ? nil : name
    }

    /// Converts `bytes`. Invalid bytes become U+FFFD.
    mutating func decode(_ bytes: [UInt8]) -> [UInt8] {
        guard let converter = unsafe converter else { return bytes }
        var input = pending + bytes
        var output: [UInt8] = []
        var offset = 0
        unsafe input.withUnsafeMutableBytes { source in
            while offset < source.count {
                let (consumed, part, isMalformed) = unsafe Self.step(converter, source, from: offset)
                output += part
                offset += consumed
                if isMalformed {
                    output += [0xEF, 0xBF, 0xBD]
                    offset += 1
                } else if consumed == 0, part.isEmpty {
                    break
                }
            }
        }
        pending = Array(input[min(offset, input.count)...])
        return output
    }

    private static func step(
        _ converter: iconv_t, _ source: UnsafeMutableRawBufferPointer, from offset: Int
    ) -> (consumed: Int, bytes: [UInt8], isMalformed: Bool) {
        var (consumed, isMalformed) = (0, false)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { target, count in
            var input = unsafe source.baseAddress.map { unsafe ($0 + offset).assumingMemoryBound(to: CChar.self) }
            var output = unsafe target.baseAddress.map {
                unsafe UnsafeMutableRawPointer($0).assumingMemoryBound(to: CChar.self)
            }
            var (inputLeft, outputLeft) = (source.count - offset, target.count)
            let result = unsafe iconv(converter, &input, &inputLeft, &output, &outputLeft)
            isMalformed = result == -1 && errno == EILSEQ
            consumed = source.count - offset - inputLeft
            count = target.count - outputLeft
        }
        return (consumed, bytes, isMalformed)
    }
}
