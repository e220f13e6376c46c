/** A port on which nothing listens (tcpmux, RFC 1078), and a name that does not exist (RFC 6761). */
export const nobody = { host: '127.0.0.1', port: 1 }
export const noName = 'no-such-host.invalid'
