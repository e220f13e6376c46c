import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { parse } from 'yaml'

/** Bytes of the largest description that is read: those of the largest vendors have seven million. */
const largest = 16 * 1024 * 1024
/** How deep values may stand in it, and how many there may be. */
const deepest = 100
const maxValues = 2_000_000
/** Uses of the anchors of a YAML file. */
const maxAliases = 100

/** A description of a vendor's API (OpenAPI 3.0 or 3.1), whose references all stay inside of it. */
export type Description = {
  root: JsonObject
  /** The value that is meant, where another one refers to it. */
  follow: (value: Json | undefined) => Json | undefined
}

/** Reads a description. Throws an Error with one sentence where it is none, or asks for anything outside of it. */
export async function readDescription (path: string): Promise<Description> {
  const root = parsed(await textOf(path), path)
  if (!isRecord(root)) throw new Error(`${path} is no description of an API: it is no object.`)
  const { openapi } = root
  if (typeof openapi !== 'string' || !/^3\.[01]\.\d+/.test(openapi)) {
    throw new Error(
      `${path} is no OpenAPI 3.0 or 3.1: ${
        isRecord(root) && 'swagger' in root ? 'convert it from Swagger first.' : 'it says no such version.'
      }`
    )
  }
  if (!isRecord(root['paths'])) throw new Error(`${path} describes no paths.`)
  const description = { root: root as JsonObject, follow: (value: Json | undefined) => followed(root as JsonObject, value) }
  checkReferences(description, path)
  return description
}

async function textOf (path: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined)
  if (facts?.isFile() !== true) throw new Error(`There is no file ${path}.`)
  const { size } = facts
  if (size > largest) throw new Error(`${path} has ${size} bytes, and a description at most ${largest}: keep only what you need of it.`)
  return await readFile(path, 'utf8')
}

function parsed (text: string, path: string): unknown {
  try {
    return extname(path) === '.json' ? JSON.parse(text) : parse(text, { maxAliasCount: maxAliases, prettyErrors: true })
  } catch (error) {
    const [first] = (error instanceof Error ? error.message : String(error)).split('\n')
    throw new Error(`${path} cannot be read: ${first ?? ''}`, { cause: error })
  }
}

/** Walks through all of it, without recursion: neither its depth nor its size may end this process. */
function checkReferences ({ root }: Description, path: string): void {
  const stack: { value: Json, depth: number, isExample: boolean }[] = [{ value: root, depth: 0, isExample: false }]
  let seen = 0
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { value, depth, isExample } = top
    if (typeof value !== 'object' || value === null) continue
    if (++seen > maxValues || depth > deepest) throw new Error(`${path} is nested too deeply, or refers to itself: nothing was made.`)
    if (!isExample && isRecord(value) && typeof value['$ref'] === 'string') followed(root, value)
    for (const [name, child] of Object.entries(value)) {
      stack.push({
        value: child,
        depth: depth + 1,
        isExample: isExample || name === 'example' || name === 'examples' || name === 'default'
      })
    }
  }
}

/** References of references. */
const longestChain = 20

function followed (root: JsonObject, value: Json | undefined): Json | undefined {
  let found = value
  for (let steps = 0; isRecord(found) && typeof found['$ref'] === 'string'; steps++) {
    const reference = found['$ref']
    const shown = JSON.stringify(reference.slice(0, 100))
    if (steps > longestChain) throw new Error(`The reference ${shown} leads to itself.`)
    if (!reference.startsWith('#/')) {
      throw new Error(
        `It refers to ${shown}: only references inside of the file are followed, no other files and no addresses. Bundle it first.`
      )
    }
    found = pointed(root, reference)
    if (found === undefined) throw new Error(`The reference ${shown} leads to nothing.`)
  }
  return found
}

function pointed (root: JsonObject, reference: string): Json | undefined {
  let place: Json | undefined = root
  for (const part of reference.slice(2).split('/')) {
    const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, name)) return undefined
    place = (place as JsonObject)[name]
  }
  return place
}

function decoded (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
