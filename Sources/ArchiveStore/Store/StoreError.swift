package import Fetch
package import LiveRing

/// The reason why a request to a store failed.
package struct StoreError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// An answer of 4xx or 5xx, with the code that the store gives.
        case refused(status: Int, code: String)
        /// This machine's clock is ahead of the store's by `seconds`, or behind it if negative.
        case clockSkew(seconds: Int64)
        case unreachable(FetchError.Reason, message: String)
        case noObject
        /// An object is shorter than its index states.
        case shortObject(expected: Int, received: Int)
        /// The bytes of an object do not match its name or its index.
        case damagedObject
        /// A list of objects cannot be read.
        case badListing
        case badIndex(RingError)
        /// The copy of an object cannot be written to the disk.
        case cache(RingError)
        /// A range is longer than `ArchiveReader.longestRange`.
        case tooLong
        /// Neither the environment nor a file contains a key.
        case noCredentials
    }

    package let reason: Reason
    /// `bucket/key` of the object or the objects.
    package let object: String

    /// The time until the next request that the store asks for; nil if it asks for none.
    package let retryAfter: Duration?

    package init(_ reason: Reason, object: String, retryAfter: Duration? = nil) {
        (self.reason, self.object, self.retryAfter) = (reason, object, retryAfter)
    }

    /// The class of the failure, without the object and words of the store.
    package var viewerText: String {
        switch reason {
        case .noObject: "There is no such object. Its time is a gap."
        case .tooLong: "The range is too long to be read from the store. Ask for 24 hours at most."
        case .unreachable: "The store cannot be reached."
        case .refused, .noCredentials: "The store refuses."
        case .clockSkew, .shortObject, .damagedObject, .badListing, .badIndex, .cache:
            "The store of the archive does not answer as it should."
        }
    }

    /// One sentence about the failure, and advice.
    package var message: String {
        switch reason {
        case .refused(403, let code):
            "\(object): the store refuses the key (403 \(code)). Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, the region, or the rights of the key."
        case .refused(404, let code):
            "\(object): the store does not know it (404 \(code)). Create the bucket, or correct archive-store."
        case .refused(let status, let code) where status == 503 || status == 429:
            "\(object): the store asks for fewer requests (\(status) \(code)). They are repeated later."
        case .refused(let status, let code): "\(object): the store refuses it (\(status) \(code))."
        case .clockSkew(let seconds):
            "\(object): this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the store's. Requests are signed with the store's clock from now on. Set the clock (NTP)."
        case .unreachable(let reason, let message):
            "\(object): the store cannot be reached (\(reason.rawValue)\(message.isEmpty ? "" : ": \(message)"))."
        case .noObject: "\(object): there is no such object. Its time is a gap."
        case .shortObject(let expected, let received):
            "\(object): the object has \(received) bytes, where its index says \(expected)."
        case .damagedObject:
            "\(object): the object has other bytes than its name says. They are not used, and its time cannot be had."
        case .badListing: "\(object): the list of objects cannot be read. Is the endpoint that of an S3 store?"
        case .badIndex(let error): "\(object): the index cannot be read (\(error))."
        case .cache(let error): "\(object): the copy cannot be kept (\(error))."
        case .tooLong: "\(object): the range is too long to be read from the store. Ask for 24 hours at most."
        case .noCredentials:
            "\(object): there is no key. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE."
        }
    }
}
