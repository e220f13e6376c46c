import { type ElectronicAddress, failureOf, type Recipient, refused, type Static, Type } from '@dispatch/core/provider'
import { askAt } from './api.ts'
import type { Call } from './settings.ts'

/** The scheme of addresses in the French directory: a SIREN, and what the recipient has set up behind it. */
const french = '0225'
/** The numbers that a search takes, by their scheme: of legal units and of establishments. */
const numbers: Readonly<Record<string, { filter: 'siren' | 'siret', digits: number }>> = {
  '0002': { filter: 'siren', digits: 9 },
  '0009': { filter: 'siret', digits: 14 }
}

const Line = Type.Object({
  addressingIdentifier: Type.String({ minLength: 1, maxLength: 200 }),
  platform: Type.Optional(
    Type.Union([
      Type.Null(),
      // Up to 1.1 the status of the line was called that of its platform.
      Type.Object({ directoryLineStatus: Type.Optional(Type.String()), platformStatus: Type.Optional(Type.String()) })
    ])
  ),
  legalUnit: Type.Optional(Type.Union([Type.Null(), Type.Object({ businessName: Type.Optional(Type.String()) })]))
})
type Line = Static<typeof Line>

/** Nothing is found where the answer has no body (204, from 1.2 on) or no results. */
const Lines = Type.Union([Type.Null(), Type.Object({ results: Type.Optional(Type.Array(Line)) })])

const statuses: Readonly<Record<string, NonNullable<Recipient['status']>>> = {
  Enabled: 'active',
  Upcoming: 'upcoming',
  Disabled: 'inactive'
}

/** Who receives at an address of the French directory, or under a SIREN or SIRET. */
export async function recipientsAt ({ scheme, id }: ElectronicAddress, call: Call): Promise<{ recipients: Recipient[] }> {
  const url = addressOf(call)
  if (scheme === french) return { recipients: await lineAt(`${url}/v1/directory-line/code:${encodeURIComponent(id)}`, call) }
  const { filter, digits } = numbers[scheme] ?? { digits: 0 }
  const value = id.replaceAll(/\s/g, '')
  if (filter === undefined || value.length !== digits) {
    throw refused('not_in_directory', `The French directory knows addresses of the scheme ${french}, SIREN (0002) and SIRET (0009).`)
  }
  const json = { filters: { [filter]: { op: 'contains', value } }, limit: 100 }
  const { results = [] } = await call.http.post(...askAt(call, `${url}/v1/directory-line/search`, { json }), Lines) ?? {}
  return { recipients: results.map(recipientOf) }
}

function addressOf ({ settings: { directoryUrl, sandboxDirectoryUrl }, sandbox }: Call): string {
  const [url, name] = sandbox ? [sandboxDirectoryUrl, 'sandboxDirectoryUrl'] : [directoryUrl, 'directoryUrl']
  if (url === undefined) throw refused('no_directory', `The configuration has no address of a directory: set "${name}".`)
  return url
}

async function lineAt (url: string, call: Call): Promise<Recipient[]> {
  try {
    return [recipientOf(await call.http.get(...askAt(call, url), Line))]
  } catch (error) {
    if (isAbsent(error)) return []
    throw error
  }
}

/** A 404 in the words of the directory. Any other is a wrong address of the directory. */
function isAbsent (error: unknown): boolean {
  const { status, body } = failureOf(error) ?? {}
  return status === 404 && typeof body === 'object' && body !== null && 'errorCode' in body
}

function recipientOf ({ addressingIdentifier: id, platform, legalUnit }: Line): Recipient {
  const status = statuses[platform?.directoryLineStatus ?? platform?.platformStatus ?? '']
  const name = legalUnit?.businessName
  return { scheme: french, id, ...(name !== undefined && name !== '' && { name }), ...(status !== undefined && { status }) }
}
