import { type Json, type JsonObject, memoizeByIdentity } from '@dispatch/common'
import { pretty } from '../form/json.ts'
import { isList, isObject } from '../form/schema.ts'

/** A request to the API. `version`: the one that takes it, where the usual one does not. */
export type ApiRequest = { url: string, body: JsonObject, version?: string }

/** The longest body that stands in code, in characters. A longer one is read from the file {@link requestFile}. */
const longestBody = 4000

export const requestFile = 'request.json'

/** The body of a request as JSON, which is needed several times for its code. */
const written = memoizeByIdentity(({ body }: ApiRequest) => ({ json: pretty(body) }))

/** Whether the code of a request reads its body from a file. */
export function readsFile (request: ApiRequest): boolean {
  return written(request).json.length > longestBody
}

/** A command that sends a request, for a shell. The key is in the reader's environment. */
export function curlOf (request: ApiRequest): string {
  return [
    `curl ${quoted(request.url)}`,
    '-H "Authorization: Bearer $DISPATCH_API_KEY"',
    `-H ${quoted('Content-Type: application/json')}`,
    ...request.version === undefined ? [] : [`-H ${quoted(`X-API-Version: ${request.version}`)}`],
    readsFile(request) ? `-d @${requestFile}` : `-d ${quoted(written(request).json)}`
  ].join(' \\\n  ')
}

function quoted (text: string): string {
  return `'${text.replaceAll('\'', '\'\\\'\'')}'`
}

/** A module that sends a request, for Node and the like. The same idempotency key again sends nothing twice. */
export function typescriptOf (request: ApiRequest): string {
  const isLong = readsFile(request)
  return `${isLong ? 'import { readFile } from \'node:fs/promises\'\n\n' : ''}const answer = await fetch(${JSON.stringify(request.url)}, {
  method: 'POST',
  headers: {
    'Authorization': \`Bearer \${process.env['DISPATCH_API_KEY']}\`,
    'Content-Type': 'application/json',${request.version === undefined ? '' : `\n    'X-API-Version': '${request.version}',`}
    'Idempotency-Key': crypto.randomUUID()
  },
  body: ${isLong ? `await readFile('${requestFile}', 'utf8')` : `JSON.stringify(${indented(written(request).json)})`}
})
if (!answer.ok) throw new Error(await answer.text())
console.log(await answer.json())
`
}

/** A program that sends a request with Python's own library. */
export function pythonOf (request: ApiRequest): string {
  const isLong = readsFile(request)
  return `import json
import os
import urllib.error
import urllib.request
import uuid

request = urllib.request.Request(
    ${JSON.stringify(request.url)},
    data=${isLong ? `open("${requestFile}", "rb").read()` : `json.dumps(${literalOf(request.body, '    ')}).encode()`},
    headers={
        "Authorization": "Bearer " + os.environ["DISPATCH_API_KEY"],
        "Content-Type": "application/json",${request.version === undefined ? '' : `\n        "X-API-Version": "${request.version}",`}
        "Idempotency-Key": str(uuid.uuid4()),
    },
)
try:
    with urllib.request.urlopen(request) as answer:
        print(json.load(answer))
except urllib.error.HTTPError as refusal:
    raise SystemExit(refusal.read().decode())
`
}

/** Behind the first line of a text, each line two places further in. JSON has its line breaks between values alone. */
function indented (json: string): string {
  return json.replaceAll('\n', '\n  ')
}

const constants: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }

/** A value as Python writes it: texts and numbers as JSON does. */
function literalOf (value: Json, margin: string): string {
  const within = `${margin}    `
  const among = ([open, close]: readonly [string, string], items: readonly string[]): string =>
    items.length === 0 ? `${open}${close}` : `${open}\n${items.map((item) => `${within}${item},\n`).join('')}${margin}${close}`
  if (isList(value)) return among(['[', ']'], value.map((item) => literalOf(item, within)))
  if (isObject(value)) {
    return among(['{', '}'], Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literalOf(item, within)}`))
  }
  return typeof value === 'string' ? JSON.stringify(value) : constants[String(value)] ?? String(value)
}
