import childProcess from 'node:child_process'
import crypto from 'node:crypto'
import dgram from 'node:dgram'
import dns from 'node:dns'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { pathToFileURL } from 'node:url'
import workers from 'node:worker_threads'

/** The functions of Node that reach the machine, by what using them means. */
const reaching: readonly (readonly [what: string, functions: object])[] = [
  ['It uses files by itself', fs],
  ['It uses files by itself', fs.promises],
  ['It resolves names by itself', dns],
  ['It resolves names by itself', dns.promises],
  ['It opens sockets by itself', dgram],
  ['It starts processes', childProcess],
  ['It starts threads', workers]
]

const ending = ['exit', 'abort', 'kill'] as const

/** The functions of Node that take a key to sign with, and the place of the key among their arguments. */
const signing: readonly (readonly [functions: object, name: string, place: number])[] = [
  [crypto, 'createHmac', 1],
  [crypto, 'createSecretKey', 0],
  [crypto, 'createPrivateKey', 0],
  [crypto, 'sign', 2],
  [Reflect.getPrototypeOf(crypto.subtle) ?? {}, 'importKey', 1]
]

/** What code of a folder does to the machine, and the keys that it signs with. */
export type MachineUse = { used: (folder: string, what: string) => void, keyed: (folder: string, how: string, key: string) => void }

/**
 * Guards the machine until the result is called: `used` is told when code of one of the folders reads the environment, uses files, names,
 * sockets, processes or threads, or ends the process; `keyed`, when it signs. What ends the process throws instead; everything else goes
 * through.
 */
export function guardMachine (folders: () => readonly string[], { used, keyed }: MachineUse): () => void {
  const tell = (what: string): boolean => {
    const folder = callingFolder(folders())
    if (folder !== undefined) used(folder, what)
    return folder !== undefined
  }
  const undo = [
    ...reaching.flatMap(([what, functions]) =>
      Object.entries(functions).filter(([, value]) => typeof value === 'function').map(([name, value]) =>
        replace(functions, name, watched(value as Callable, () => tell(`${what}: ${name}().`)))
      )
    ),
    ...signing.map(([functions, name, place]) =>
      replace(functions, name, watched(Reflect.get(functions, name) as Callable, (given) => {
        const folder = callingFolder(folders())
        if (folder !== undefined) keyed(folder, `${name}()`, keyText(given[place]))
      }))
    ),
    ...ending.map((name) =>
      replace(process, name, watched(Reflect.get(process, name) as Callable, () => {
        if (tell(`It ends the process: process.${name}().`)) throw new Error(`A provider may not call process.${name}().`)
      }))
    ),
    replace(process, 'env', new Proxy(process.env, {
      get (env, name) {
        if (typeof name === 'string' && name in env) tell(`It reads the environment: ${name}.`)
        return Reflect.get(env, name) as unknown
      },
      ownKeys (env) {
        tell('It reads the environment.')
        return Reflect.ownKeys(env)
      }
    }))
  ]
  syncBuiltinESMExports()
  return () => {
    for (const one of undo) one()
    syncBuiltinESMExports()
  }
}

type Callable = (...given: unknown[]) => unknown

/** Functions may be classes, too: a proxy is called and constructed as they are. */
function watched (own: Callable, before: (given: readonly unknown[]) => void): Callable {
  return new Proxy(own, {
    apply (target, self, given: unknown[]) {
      before(given)
      return Reflect.apply(target, self, given)
    },
    construct (target, given: unknown[], made) {
      before(given)
      return Reflect.construct(target, given, made) as object
    }
  })
}

/** A key as a text, in whichever form it is given; empty for one that is not given as a text or bytes. */
function keyText (key: unknown): string {
  if (typeof key === 'string') return key
  if (key instanceof Uint8Array || key instanceof ArrayBuffer) return new TextDecoder().decode(key)
  return typeof key === 'object' && key !== null && 'key' in key ? keyText(key.key) : ''
}

/** Puts a value in place of a property, where that may be changed; the result puts the former one back. */
function replace (object: object, name: string, value: unknown): () => void {
  const own = Object.getOwnPropertyDescriptor(object, name)
  if (own?.configurable !== true) return () => undefined
  Object.defineProperty(object, name, { configurable: true, enumerable: own.enumerable ?? true, writable: true, value })
  return () => {
    Object.defineProperty(object, name, own)
  }
}

/** Where the kit is installed among a provider's own packages, it lies in the provider's folder. */
const kit = new URL('.', import.meta.url).href

/** The folder in which the code lies that has called, when Node's own frames and this file's are passed over. */
function callingFolder (folders: readonly string[]): string | undefined {
  const frames = (new Error('Who calls?').stack ?? '').split('\n').slice(1)
  const caller = frames.find((frame) => !frame.includes('node:') && !frame.includes(import.meta.url) && /:\d+:\d+\)?$/.test(frame))
  if (caller === undefined || caller.includes(kit)) return undefined
  return folders.find((folder) => caller.includes(pathToFileURL(`${folder}/`).href) || caller.includes(`${folder}/`))
}
