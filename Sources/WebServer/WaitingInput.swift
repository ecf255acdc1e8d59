import NIOCore
import NIOHTTP1

/// The input of a connection that came after a whole request, while the response to that is under way (RFC 9112 §9.3.2).
///
/// Nothing more is read meanwhile, so that it is no more than one read brought.
struct WaitingInput {
    enum Element {
        case part(HTTPServerRequestPart)
        /// What follows is no request.
        case malformed(HTTPParserError)
        /// The client sends nothing more.
        case inputClosed
    }

    private var elements = CircularBuffer<Element>(initialCapacity: 0)
    /// Whether the connection wants to read on.
    var isReadPending = false

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeAll() { elements.removeAll() }

    /// Removes the first element. While requests are held, only the end of the input is passed on.
    mutating func popFirst(holdsRequests: Bool) -> Element? {
        if holdsRequests {
            guard case .inputClosed? = elements.first else { return nil }
        }
        return elements.popFirst()
    }
}
