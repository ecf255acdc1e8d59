import Foundation
import Glibc
import Support

/// Reads the elements of a guide that lies in a file, compressed or not, in any encoding.
struct GuideReader {
    private static let partByteCount = 256 << 10
    let path: String
    let limits: GuideLimits
    /// Whether nobody waits for the result any more.
    var isCanceled: @Sendable () -> Bool = { false }

    /// Calls `receive` with each element, in order. It blocks its thread for seconds if the guide is large.
    /// - Returns: what was found.
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

    /// Empty at the end.
    private func next(of file: FileHandle) throws(GuideFault) -> [UInt8] {
        do { return Array(try file.read(upToCount: Self.partByteCount) ?? Data()) } catch {
            throw .unreadable(errno: errno)
        }
    }
}

/// The decompressed text of a guide.
private struct GuideTextReader: ~Copyable {
    private var scanner: GuideScanner
    private var decoder: GuideTextDecoder?
    /// The first bytes, until there are enough to know the encoding.
    private var head: [UInt8] = []
    private var byteCount = 0
    /// Text that has the XML declaration.
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
