/// Cross-origin access (Fetch §3.2): pages of any origin may read every resource.
enum CrossOrigin {
    static let allowedMethods = "GET, HEAD, OPTIONS"

    /// Fields that a page may read: players compute their clock offset from Date and Age.
    static let exposedFields = "Age, Content-Length, Content-Range, Date"

    /// The response to OPTIONS, for a preflight or any other; browsers may cache it for a day.
    static let preflight = Response(
        status: .noContent, cacheControl: .maxAge(seconds: 86_400), body: .empty,
        extraHeaders: [
            HeaderField(name: "Allow", value: allowedMethods),
            HeaderField(name: "Access-Control-Allow-Methods", value: allowedMethods),
            HeaderField(
                name: "Access-Control-Allow-Headers",
                value: "Authorization, Range, If-None-Match, If-Range, Cache-Control"),
            HeaderField(name: "Access-Control-Max-Age", value: "86400"),
        ])

    static let methodNotAllowed: Response = {
        var response = Response.text(.methodNotAllowed, "Only GET, HEAD and OPTIONS are answered here.")
        response.extraHeaders = [HeaderField(name: "Allow", value: allowedMethods)]
        return response
    }()
}
