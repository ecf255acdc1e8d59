import Synchronization
import WebServer

extension ByteStream {
    /// The stream until `duration` after its first bytes.
    func ending(after duration: Duration) -> ByteStream {
        let end = Mutex<ContinuousClock.Instant?>(nil)
        let clock = ContinuousClock()
        return ByteStream { [self] in
            if let end = end.withLock({ $0 }), clock.now >= end { return nil }
            let bytes = await next()
            end.withLock { if $0 == nil { $0 = clock.now + duration } }
            return bytes
        }
    }
}
