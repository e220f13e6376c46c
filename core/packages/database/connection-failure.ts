import { errorMessageOf } from '@dispatch/common'
import pg from 'pg'
import { addressesOf, NoWriter } from './hosts.ts'

/** Where connections lead, and the variable that says so. */
export type Destination = { setting: string, config: pg.ClientConfig }

/** The same as a person reads it, without the password. `server`: host and port, or the socket. */
type Place = { setting: string, server: string, host: string, database: string, user: string }

/** What is wrong, and what helps. `passes`: by waiting, as with a server that starts. `message`: the words of the server or the system. */
type Failure = { passes?: true, wrong: (place: Place, message: string) => string, remedy: (place: Place, message: string) => string }

const nobody: Failure = {
  passes: true,
  wrong: ({ server }) => `nothing listens at ${server}`,
  remedy: ({ setting }) => `start the server, or correct host and port in ${setting}`
}

const silent: Failure = {
  passes: true,
  wrong: ({ server }) => `${server} does not answer`,
  remedy: ({ setting }) => `see whether the server runs, whether a firewall is in the way, and whether ${setting} names the right host`
}

const broken: Failure = {
  passes: true,
  wrong: ({ server }, message) => `${server} ends each connection (${message})`,
  remedy: ({ setting }) => `see its log, and whether ${setting} names the port of a PostgreSQL server`
}

const between: Failure = {
  passes: true,
  wrong: ({ server }, message) => `${server} takes no connections at the moment (${message})`,
  remedy: () => 'see its log'
}

const refused: Failure = {
  wrong: ({ server, user }) => `${server} refuses the password of the user "${user}"`,
  remedy: ({ setting }) => `correct it in ${setting}, URL-encoded, or set it on the server with \\password in psql`
}

const noPassword: Failure = {
  wrong: ({ server, user }) => `${server} asks for a password of the user "${user}", and there is none`,
  remedy: ({ setting }) => `write it into ${setting}, URL-encoded`
}

const noDatabase: Failure = {
  wrong: ({ server, database }) => `${server} has no database "${database}"`,
  remedy: ({ setting, database, user }) => `make it with \`createdb --owner ${user} ${database}\`, or name another one in ${setting}`
}

const noTls: Failure = {
  wrong: ({ server }) => `${server} does not speak TLS`,
  remedy: ({ setting }) => `set up TLS on the server (ssl = on), or take sslmode out of ${setting} where nobody can listen`
}

const untrusted: Failure = {
  wrong: ({ host }, message) => `the certificate of ${host} is not trusted (${message})`,
  remedy: ({ setting }) => `name the authority that signed it in ${setting} (sslrootcert=FILE), and the host as the certificate does`
}

const unreadable: Failure = {
  wrong: ({ setting }) => `${setting} is no address`,
  remedy: () => 'it is postgres://USER:PASSWORD@HOST:PORT/DATABASE, in which the password is URL-encoded: %2F for /, %40 for @, %23 for #'
}

const noFile: Failure = {
  wrong: ({ setting }, message) => `a file that ${setting} names cannot be read (${message})`,
  remedy: () => 'correct its path, and let the user of the service read it'
}

const full: Failure = {
  passes: true,
  wrong: ({ server }) => `${server} has no connection left`,
  remedy: () => 'raise max_connections of the server, end what holds them, or set up a pooler'
}

const readOnly: Failure = {
  passes: true,
  wrong: ({ server }) => `${server} takes no writes`,
  remedy: ({ setting }) => `promote the standby, or name the server that takes writes in ${setting}`
}

/** The hosts of an address fail in several ways. */
const noWriter: Failure = {
  wrong: (_place, message) => `no host takes writes (${message})`,
  remedy: ({ setting }) => `see the log of each, and ${setting}`
}

/** By SQLSTATE (PostgreSQL, appendix A), and by the codes of Node and OpenSSL. */
const byCode: Readonly<Record<string, Failure>> = {
  '28P01': refused,
  28000: {
    wrong: ({ server }, message) => `${server} lets nobody in like this (${message})`,
    remedy: ({ setting }, message) =>
      message.includes('no encryption')
        ? `add sslmode=verify-full to ${setting}, or permit the connection in pg_hba.conf of the server`
        : `make the user with createuser, or permit it in pg_hba.conf of the server, or correct ${setting}`
  },
  '3D000': noDatabase,
  25006: readOnly,
  42501: {
    wrong: ({ server, database, user }) => `${server} does not let the user "${user}" into the database "${database}"`,
    remedy: ({ database, user }) => `make it the owner: ALTER DATABASE "${database}" OWNER TO "${user}"`
  },
  53300: full,
  55000: between,
  '57P01': between,
  '57P02': between,
  '57P03': between,
  ECONNREFUSED: nobody,
  ENOTFOUND: {
    passes: true,
    wrong: ({ host }) => `there is no host "${host}"`,
    remedy: ({ setting }) => `correct it in ${setting}, or make its name known to this machine`
  },
  EAI_AGAIN: {
    passes: true,
    wrong: ({ host }) => `no name server tells the address of "${host}"`,
    remedy: () => 'see which name servers this machine asks, and whether it reaches them'
  },
  ETIMEDOUT: silent,
  EHOSTUNREACH: silent,
  ENETUNREACH: silent,
  ECONNRESET: broken,
  EPIPE: broken,
  CERT_HAS_EXPIRED: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ERR_INVALID_URL: unreadable
}

/** Where the code does not tell: those of the client have none, and PgBouncer has one for all (08P01). */
const byWords: readonly (readonly [RegExp, Failure])[] = [
  [/^SASL: .*password must be/, noPassword],
  [/^(SASL|password) authentication failed/, refused],
  [/^no such database/, noDatabase],
  [/^no such user/, refused],
  [/no more connections allowed/, full],
  [/server_login_retry|query_wait_timeout|server conn/, between],
  [/SSL/, noTls],
  [/timeout|timed out/, silent],
  [/^Connection terminated/, broken]
]

const other: Failure = {
  wrong: ({ server }, message) => `${server} cannot be used (${message})`,
  remedy: ({ setting }) => `see its log, and ${setting}`
}

/** Why a connection could not be opened, and what helps: one sentence for an operator, without a secret. */
export function explainFailure (cause: unknown, to: Destination): string {
  const { wrong, remedy } = failureOf(cause)
  const servers = placesOf(to)
  const [first] = servers
  const place = { ...first, server: listed(servers.map(({ server }) => server)), host: listed(servers.map(({ host }) => host)) }
  const message = cause instanceof NoWriter
    ? cause.errors.map((error, number) => `${servers[number]?.server ?? first.server}: ${messageOf(error)}`).join(', ')
    : messageOf(cause)
  return `${wrong(place, message)}: ${remedy(place, message)}.`
}

/** Whether a failure of a connection may pass by waiting, as one of a server that starts. A wrong password or name does not pass. */
export function failurePasses (cause: unknown): boolean {
  if (cause instanceof NoWriter) return cause.errors.some(failurePasses)
  return failureOf(cause).passes === true
}

/** What libraries with connections of their own say of one that fails, without a code: pg-boss by way of pg. */
const lost = /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|timeout expired|Client was closed)/

/**
 * Whether an error of any library says that the database was away for a while: it has the code of such a failure, or its words. A host name
 * with several addresses fails as often.
 */
export function isLostConnection (error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isLostConnection)
  if (!(error instanceof Error)) return false
  const { code = '', syscall } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return syscall === 'connect'
  return byCode[code]?.passes === true || (code === '' && lost.test(error.message))
}

function failureOf (cause: unknown): Failure {
  if (cause instanceof NoWriter) {
    const [failure, ...others] = new Set(cause.errors.map(failureOf))
    return failure === undefined || others.length > 0 ? noWriter : failure
  }
  const { code = '', syscall } = cause instanceof Error ? cause as NodeJS.ErrnoException : {}
  if (code === 'ENOENT') return syscall === 'connect' ? nobody : noFile
  if (code === 'EACCES') return syscall === 'connect' ? other : noFile
  // What the client itself reports has no code: its connection has failed somehow.
  const unknown = code === '' ? broken : other
  return byCode[code] ?? byWords.find(([words]) => words.test(messageOf(cause)))?.[1] ?? unknown
}

/** The words of an error, without its last full stop. */
export function messageOf (cause: unknown): string {
  const causes: readonly unknown[] = cause instanceof AggregateError ? cause.errors : [cause]
  return causes.map((one) => errorMessageOf(one).replace(/\.$/, '')).join(', ')
}

const listed = (names: readonly string[]): string => [...new Set(names)].join(' and ')

/** One of each host. */
function placesOf ({ setting, config }: Destination): [Place, ...Place[]] {
  try {
    const { connectionString: address } = config
    const configs = address === undefined ? [config] : addressesOf(address).map((connectionString) => ({ ...config, connectionString }))
    return configs.map((one) => placeOf(setting, one)) as [Place, ...Place[]]
  } catch {
    // An address that cannot be read, or names a file that is not there.
    return [{ setting, server: `the server of ${setting}`, host: 'the server', database: '', user: '' }]
  }
}

function placeOf (setting: string, config: pg.ClientConfig): Place {
  const { host, port, database = '', user = '' } = new pg.Client(config)
  const server = host.startsWith('/') ? `${host}/.s.PGSQL.${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`
  return { setting, server, host, database, user }
}
