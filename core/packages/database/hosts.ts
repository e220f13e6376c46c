import { Socket } from 'node:net'
import pg from 'pg'

/** An address of a database that cannot be used. `message`: what is wrong with it, as the end of a sentence, without a part of it. */
export class AddressError extends Error {
  override name = 'AddressError'
  readonly code = 'ERR_INVALID_URL'
}

/** No host of an address takes writes. `errors`: why not, one of each host. */
export class NoWriter extends AggregateError {
  override name = 'NoWriter'
  readonly code = 'NO_WRITER'
}

type Addresses = readonly [string, ...string[]]

/**
 * The addresses of single hosts that stand in one: `postgres://u:p@h1:5432,h2/db?target_session_attrs=read-write`, or `?host=h1,h2` with
 * `&port=`, as libpq reads them. An address of one host is returned as it is, whatever it looks like. Throws `AddressError`.
 */
export function addressesOf (address: string): Addresses {
  const [, scheme = '', user = '', authority = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)([^/?#]*@)?([^/?#]*)([^?#]*)\??([^#]*)/.exec(address) ?? []
  const parameters = new URLSearchParams(query)
  const target = parameters.get('target_session_attrs')
  const named = parameters.get('host') ?? ''
  const isMany = authority.includes(',') || named.includes(',')
  if (isMany && (target ?? 'any') === 'any') {
    throw new AddressError('names several hosts: add target_session_attrs=read-write, so that the one is used that takes writes')
  }
  if (!['any', ...takingWrites].includes(target ?? 'any')) {
    throw new AddressError('must have target_session_attrs=read-write, because the service writes')
  }
  if (!isMany) return [address]
  if (named !== '' && authority !== '') throw new AddressError('names hosts in two places: before the path, and as host')
  const hosts = named === '' ? authority.split(',') : named.split(',')
  const ports = parameters.get('port')?.split(',') ?? []
  if (named === '' && ports.length > 0) {
    {
      throw new AddressError('names several hosts: write each port behind its host, as in h1:5432,h2:5433')
    }
  }
  if (ports.length > 1 && ports.length !== hosts.length) throw new AddressError(`names ${hosts.length} hosts and ${ports.length} ports`)
  if (!hosts.every((host) => (named === '' ? hostAndPort : hostOrFolder).test(host))) {
    throw new AddressError(
      'has a host that cannot be read; several hosts are written like postgres://user:password@h1:5432,h2:5433/database'
    )
  }
  parameters.delete('target_session_attrs')
  return hosts.map((host, number) => {
    const own = new URLSearchParams(parameters)
    if (named !== '') own.set('host', host)
    const port = ports[number] ?? ports[0]
    if (port !== undefined) own.set('port', port)
    return `${scheme}${user}${named === '' ? host : ''}${path}${own.size === 0 ? '' : `?${own.toString()}`}`
  }) as unknown as Addresses
}

/** `target_session_attrs` of a server that takes writes. */
const takingWrites = ['read-write', 'primary']
const hostAndPort = /^(\[[\da-f:.]+\]|[^\s:[\]]+)(:\d{1,5})?$/i
const hostOrFolder = /^[^\s,]+$/

/** Where each address of several hosts was found to take writes. */
const found = new Map<string, string>()

/** The address of the single host that took writes when a connection was opened last: for a library that opens connections by itself. */
export const lastWriterOf = (address: string): string => found.get(address) ?? addressesOf(address)[0]

/**
 * Finds the host that takes writes: asks all of them at once, each on a connection that is closed again, and takes the first that does.
 * So a host that is silent holds nobody up. `settings`: of the connections. Throws what is wrong with all hosts, or `NoWriter`.
 */
export async function findWriter (address: string, settings: pg.ClientConfig): Promise<string> {
  const addresses = addressesOf(address)
  if (addresses.length === 1) return addresses[0]
  const over = new AbortController()
  try {
    const writer = await Promise.any(addresses.map((one) => takesWrites(one, settings, over.signal)))
    found.set(address, writer)
    return writer
  } catch (error) {
    const errors = error instanceof AggregateError ? error.errors as unknown[] : [error]
    throw new NoWriter(errors, 'No host takes writes.')
  } finally {
    over.abort()
  }
}

/** Resolves with the address; rejects where its server takes no writes, or cannot be asked. */
async function takesWrites (address: string, settings: pg.ClientConfig, over: AbortSignal): Promise<string> {
  const socket = new Socket()
  const client = new pg.Client({ ...settings, connectionString: address, stream: () => socket })
  client.on('error', () => {
    // Its connection or its query fails with it.
  })
  const leave = (): void => {
    socket.destroy()
  }
  over.addEventListener('abort', leave)
  try {
    await client.connect()
    const { rows: [row] } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
    if (row?.transaction_read_only === 'off') return address
    throw new ReadOnlyHost('it takes no writes')
  } finally {
    over.removeEventListener('abort', leave)
    // Nobody waits for the last word, not even the end of the process.
    socket.unref()
    void client.end()
  }
}

/** A standby, or a server that is set to read-only: with the code that its answer to a change would have. */
class ReadOnlyHost extends Error {
  override name = 'ReadOnlyHost'
  readonly code = '25006'
}
