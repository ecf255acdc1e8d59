/// One video access unit, in decoding order and in the sample format of fMP4.
package struct VideoPacket: Equatable, Sendable {
    /// PID of the elementary stream (0 if the container has none).
    package let pid: UInt16
    package let configuration: VideoConfiguration
    /// Presentation time as on the wire, 0 ..< 2³³; nil if no PES header has one.
    package var pts: Ticks?
    package var dts: Ticks?
    /// The random access point that this frame is; nil if decoding cannot begin here.
    package var randomAccess: RandomAccessPoint?
    /// Whether bytes of this access unit are missing or suspect.
    package let isDamaged: Bool
    /// NAL units with four-byte lengths, without access unit delimiters and filler. MPEG-2: everything with its start
    /// codes. An IDR, BLA or CRA picture follows exactly the parameter sets of `configuration`, in its order.
    package var payload: ArraySlice<UInt8>
    /// The parameter sets in force at a recovery point or a gradual refresh, each with its four-byte length. A decoder
    /// that begins there needs them before `payload`. Empty for all other frames.
    package var parameterSets: [UInt8]
    /// Whether frames presented later may depend on this frame. H.264: nal_ref_idc is not 0. HEVC: a sub-layer
    /// reference picture that is not a leading picture, because only leading pictures refer to leading pictures.
    package let isReference: Bool
    package var captions: CaptionChannels

    package init(
        pid: UInt16, configuration: VideoConfiguration, pts: Ticks?, dts: Ticks?, randomAccess: RandomAccessPoint?,
        isDamaged: Bool, payload: ArraySlice<UInt8>, parameterSets: [UInt8] = [], isReference: Bool = true,
        captions: CaptionChannels = CaptionChannels()
    ) {
        self.pid = pid
        self.configuration = configuration
        self.pts = pts
        self.dts = dts
        self.randomAccess = randomAccess
        self.isDamaged = isDamaged
        self.payload = payload
        self.parameterSets = parameterSets
        self.isReference = isReference
        self.captions = captions
    }
}

/// How decoding may begin at a video frame: the stream access points of ISO/IEC 14496-12 Annex I, by the names of the
/// video standards.
package enum RandomAccessPoint: Equatable, Sendable {
    /// Every frame from here on can be decoded: IDR, HEVC BLA, or any other kind without leading pictures.
    case instantaneousRefresh
    /// HEVC CRA, or an I picture of MPEG-2 whose group of pictures is open. Leading pictures (decoded later, presented
    /// earlier) may refer to frames before this one.
    case cleanRandomAccess
    /// H.264 I picture that is announced as a random access point, or a recovery point of either codec without frames
    /// to wait for. Leading pictures may refer to frames before this one.
    case recoveryPoint
    /// A recovery point at which the refresh begins. Output is correct after `frames` more frames in decoding order.
    case gradualRefresh(frames: Int)

    /// SAP_type. A sample of type 1 or 2 is a sync sample, one of type 3 belongs to the sample group `rap `, one of type
    /// 4 to `roll`.
    package var streamAccessPointType: Int {
        switch self {
        case .instantaneousRefresh: 1
        case .cleanRandomAccess, .recoveryPoint: 3
        case .gradualRefresh: 4
        }
    }
}

/// The closed captions in video: channels of CEA-608 and services of CEA-708.
package struct CaptionChannels: Hashable, Sendable {
    /// Bit n is CEA-608 channel CC(n + 1).
    private var cea608: UInt8 = 0
    /// Bit n is CEA-708 service n.
    private var services: UInt64 = 0

    package init() {}

    package var isEmpty: Bool { self == CaptionChannels() }

    /// Adds CC`number`; numbers outside 1 ... 4 are ignored.
    package mutating func insert(cea608 number: Int) {
        if 1...4 ~= number { cea608 |= 1 << (number - 1) }
    }

    /// Adds service `number`; numbers outside 1 ... 63 are ignored.
    package mutating func insert(service number: Int) {
        if 1...63 ~= number { services |= 1 << number }
    }

    package mutating func formUnion(_ other: CaptionChannels) {
        cea608 |= other.cea608
        services |= other.services
    }

    /// The values of INSTREAM-ID (RFC 8216 §4.3.4.1): CEA-608 channels, then CEA-708 services.
    package var instreamIDs: [String] {
        (1...4).filter { cea608 >> ($0 - 1) & 1 == 1 }.map { "CC\($0)" }
            + (1...63).filter { services >> $0 & 1 == 1 }.map { "SERVICE\($0)" }
    }
}
