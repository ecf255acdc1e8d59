import Media

/// Decides whether a period begins with a recovery point.
///
/// A period begins with an IDR picture if one follows within a second: every decoder begins there, and nothing before
/// it is missing. A stream without IDR pictures begins with the recovery point. The frames from the recovery point on
/// are looked through, also those of the next segments.
enum RecoveryPointChoice: Equatable, Sendable {
    case begin
    case skip
    case undecided

    /// Longest wait for an IDR picture, in time presented.
    static let longestWait = Ticks.seconds(1)
    /// Largest number of frames looked through, whatever their times.
    private static let maxFrames = 256

    /// - Parameter isEnd: whether no frame follows these without a break.
    init(_ candidate: VideoPacket, following: some Sequence<VideoPacket>, isEnd: Bool) {
        var count = 0
        for packet in following {
            count += 1
            guard count <= Self.maxFrames, Self.mayPrecede(packet, after: candidate) else {
                self = .begin
                return
            }
            if packet.randomAccess?.isPreferred(to: candidate.randomAccess) ?? false {
                self = .skip
                return
            }
        }
        self = isEnd || count >= Self.maxFrames ? .begin : .undecided
    }

    /// Whether `packet` is an IDR picture to wait for, or one may follow it: what is decoded after an IDR picture is
    /// presented after it.
    private static func mayPrecede(_ packet: VideoPacket, after candidate: VideoPacket) -> Bool {
        guard packet.pid == candidate.pid, packet.configuration == candidate.configuration else { return false }
        guard let start = candidate.presentationTime, let time = packet.presentationTime else { return true }
        return abs((Ticks(wire: time, near: start) - start).count) <= longestWait.count
    }
}

extension VideoPacket {
    fileprivate var presentationTime: Ticks? { pts ?? dts }
}

extension RandomAccessPoint {
    /// Whether a period begins here without a look at the frames that follow.
    var beginsPeriodAtOnce: Bool { self == .instantaneousRefresh || self == .cleanRandomAccess }

    /// Whether a period rather begins here than at `earlier`, which is at most `RecoveryPointChoice.longestWait` ago.
    fileprivate func isPreferred(to earlier: RandomAccessPoint?) -> Bool {
        switch self {
        case .instantaneousRefresh, .cleanRandomAccess: true
        case .recoveryPoint: earlier != .recoveryPoint
        case .gradualRefresh: false
        }
    }
}

/// Decides whether segments may begin at random access points that are no IDR pictures.
///
/// A stream with IDR pictures is cut there. Its other random access points count if a period began with one, or if no
/// IDR picture came for longer than a segment may last; from then on they count for the rest of the period.
struct OpenRandomAccess: Equatable, Sendable {
    private let longestSegment: Ticks
    private var isUsed = false
    private var lastRefresh = Ticks.zero

    init(longestSegment: Ticks) { self.longestSegment = longestSegment }

    mutating func beginPeriod(with unit: TimedVideo) {
        isUsed = unit.packet.randomAccess != .instantaneousRefresh
        lastRefresh = unit.dts
    }

    /// Returns whether the random access point of a later unit of the period counts.
    mutating func isUsed(at unit: TimedVideo) -> Bool {
        guard let point = unit.packet.randomAccess, point != .instantaneousRefresh else {
            if unit.packet.randomAccess != nil { lastRefresh = unit.dts }
            return false
        }
        isUsed = isUsed || unit.dts - lastRefresh > longestSegment
        return isUsed
    }
}
