/// Blocking reloads: the server holds back its answer until the playlist lists a segment (draft-pantos-hls-rfc8216bis
/// §6.2.5.2).
///
/// Only a playlist with CAN-BLOCK-RELOAD is loaded so. After a blocking load that fails or lists nothing new, loads are
/// ordinary for a while, because the server may not do what it offers.
struct BlockingReload: Equatable, Sendable {
    static let pause = Duration.seconds(600)
    /// How long a server may hold back its answer, in target durations, and at most.
    static let targetDurationsHeld = 3
    static let longestHold = Duration.seconds(60)

    /// The media sequence number that the next load waits for; nil: an ordinary load.
    private(set) var mediaSequence: UInt64?
    private var pausedUntil = Duration.zero

    /// - Parameters:
    ///   - next: the first media sequence number that is not listed yet; nil if the playlist offers no blocking reload.
    ///   - grew: whether the load listed something new.
    mutating func loaded(next: UInt64?, grew: Bool, at now: Duration) {
        if mediaSequence != nil, !grew { pausedUntil = now + Self.pause }
        mediaSequence = now >= pausedUntil ? next : nil
    }

    mutating func failed(at now: Duration) {
        if mediaSequence != nil { pausedUntil = now + Self.pause }
        mediaSequence = nil
    }

    /// Returns the URL with the delivery directive of the next load.
    func directed(_ url: String) -> String {
        guard let mediaSequence else { return url }
        let address = url.prefix { $0 != "#" }
        return "\(address)\(address.contains("?") ? "&" : "?")_HLS_msn=\(mediaSequence)"
    }
}
