/// What an origin answered, for the oracle.
struct OriginLog {
    /// A media playlist that was sent whole and understood.
    struct Reload {
        /// When the answer arrived, milliseconds since the channel began.
        let at: Int
        /// Indices of the listed segments.
        let listed: Range<Int>
        let hasEnded: Bool
        let era: Int
    }

    struct Attempt {
        let segment: Int
        let askedAt: Int
        let answeredAt: Int
        let outcome: Outcome
        /// The name of the era in its URL; nil if that has none.
        var era: Int?
        var variant = 0

        var isWhole: Bool { outcome == .whole }
    }

    enum Outcome {
        case whole, failed
        /// The beginning alone came, and nothing said that it is not all.
        case cut
    }

    var reloads: [Reload] = []
    var attempts: [Attempt] = []
    /// As `attempts`, at the backup.
    var backupAttempts: [Attempt] = []
    /// As `attempts`, of the audio renditions.
    var audioAttempts: [AudioRendition: [Attempt]] = [:]
    /// The connections of a stream.
    let streams = StreamLog()
    var initSections: [InitSection] = []
    /// As `attempts`, of the WebVTT rendition.
    var subtitleAttempts: [Attempt] = []
    var requests = 0
    /// Times of all requests for playlists.
    var playlistRequests: [Int] = []
}
