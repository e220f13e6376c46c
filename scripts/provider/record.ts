import { compile, type Fit, type JsonObject } from '@dispatch/common'
import { recordFixture } from '@dispatch/conformance'
import { AnyJsonObject } from '@dispatch/contract'
import { verbNames } from '@dispatch/host'
import { providedNames } from '@dispatch/services'
import { createNetwork } from '@dispatch/vendor-io'
import { readFile } from 'node:fs/promises'
import { Type } from 'typebox'

/**
 * What is recorded, and where it stands. `call`: a file with the client's side of a fixture (`service`, `request` or `query`, …).
 * `settings`: a file; without it, the JSON in the environment variable DISPATCH_PROVIDER_SETTINGS. `document`: a file in place of the
 * documents. `port`: of the address on this machine to which a vendor sends the browser back. `force`: replaces a fixture that is there.
 */
export type Recording = {
  folder: string
  verb: string
  name: string
  call: string
  settings?: string | undefined
  document?: string | undefined
  port?: string | undefined
  force?: boolean | undefined
}

const fitVerb = compile(Type.Enum([...verbNames]))
const fitSettings = compile(AnyJsonObject)
const fitClient = compile(
  Type.Object({ clientId: Type.String(), clientSecret: Type.Optional(Type.String()) }, { additionalProperties: false })
)
const fitCall = compile(Type.Object({
  service: Type.Enum([...providedNames]),
  request: Type.Optional(AnyJsonObject),
  query: Type.Optional(AnyJsonObject),
  requestSettings: Type.Optional(AnyJsonObject),
  sandbox: Type.Optional(Type.Boolean()),
  checkpointed: Type.Optional(Type.String())
}, { additionalProperties: false }))

/** Records a fixture from the vendor itself and resolves to its path. Throws an Error that says why there is none. */
export async function record ({ folder, verb, name, call, settings, document, port = usualPort, force = false }: Recording): Promise<
  string
> {
  const recording = {
    ...fitting('The call', fitCall(parsed(call, await readFile(call, 'utf8')))),
    folder,
    verb: fitting('The verb', fitVerb(verb)),
    settings: await readSettings(settings),
    ...(document !== undefined && { content: await readFile(document) })
  }
  // A substitute for the vendor may run on the developer's machine.
  const network = createNetwork({ loopback: 'allowed' })
  try {
    return await recordFixture(recording, {
      name,
      existing: force ? 'replace' : 'refuse',
      network,
      connecting: { port: portIn(port), tell, ...readClient() }
    })
  } finally {
    await network.close()
  }
}

const usualPort = '8976'

function portIn (text: string): number {
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new Error(`"${text}" is no port.`)
  return port
}

/** Beside what is asked for. */
function tell (url: string, redirectUri: string): void {
  console.error(`Permit it at the vendor, whose client must have the address ${redirectUri} for the way back:\n${url}`)
}

/** The client of an operator at the vendor. */
function readClient () {
  const variable = 'DISPATCH_PROVIDER_CLIENT'
  const text = process.env[variable]
  return text === undefined ? {} : { client: fitting(variable, fitClient(parsed(variable, text))) }
}

async function readSettings (path: string | undefined): Promise<JsonObject> {
  const variable = 'DISPATCH_PROVIDER_SETTINGS'
  const text = path === undefined ? process.env[variable] ?? '{}' : await readFile(path, 'utf8')
  return fitting('The settings', fitSettings(parsed(path ?? variable, text)))
}

/** The error shows nothing of a text that may be secret. */
function parsed (where: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${where} is no JSON.`)
  }
}

function fitting<Value> (what: string, fit: Fit<Value>): Value {
  if (fit.ok) return fit.value
  throw new Error(`${what}: ${fit.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')}`)
}
