import Synchronization

/// A limit on the log lines of each channel, in bytes per second.
///
/// A hostile upstream can cause an event with each frame. Its lines beyond the limit are counted instead of written, and
/// no other channel loses any.
final class LogRate: Sendable {
    /// Bytes that may be written at once, and in a second on average.
    static let (burst, bytesPerSecond) = (64 << 10, 8 << 10)
    /// Channels whose lines are counted separately. The names come from the operator's list.
    private static let maxChannels = 4096

    fileprivate struct Bucket: Sendable {
        var bytes = LogRate.burst
        var filledAt: Duration
        var suppressed = 0
    }

    private let buckets = Mutex<[String: Bucket]>([:])

    /// Decides whether a line may be written.
    /// - Parameters:
    ///   - byteCount: of the line.
    ///   - now: any clock; a step back refills nothing.
    /// - Returns: the lines of the channel suppressed since the last one that was written; nil if this one is too.
    func admit(_ byteCount: Int, of channel: String, at now: Duration) -> Int? {
        buckets.withLock { buckets in
            let key = buckets[channel] == nil && buckets.count >= Self.maxChannels ? "" : channel
            var bucket = buckets[key] ?? Bucket(filledAt: now)
            defer { buckets[key] = bucket }
            bucket.refill(at: now)
            guard bucket.bytes >= byteCount else {
                bucket.suppressed += 1
                return nil
            }
            bucket.bytes -= byteCount
            defer { bucket.suppressed = 0 }
            return bucket.suppressed
        }
    }
}

extension LogRate.Bucket {
    fileprivate mutating func refill(at now: Duration) {
        // A long pause fills the bucket, so longer ones need not be counted.
        let passed = min(max(.zero, now - filledAt), .seconds(60))
        let milliseconds = Int(passed / .milliseconds(1))
        bytes = min(LogRate.burst, bytes + milliseconds * LogRate.bytesPerSecond / 1000)
        filledAt = now
    }
}
