/// A program selection and the transport packet from which it applies.
struct SelectionChange: Equatable, Sendable {
    /// Offset of the packet in the segment.
    let offset: Int
    let selection: ProgramSelection
}
