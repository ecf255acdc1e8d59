/// The container in which a playlist lists segments.
package enum PublishedContainer: Equatable, Sendable {
    case fragmentedMP4
    /// MPEG-TS: no init sections.
    case transportStream
}
