import { UnreadableInvoice } from './unreadable.ts'

/** An object of PDF (ISO 32000-2, 7.3). A name has its slash; a text is bytes. */
export type PdfValue = null | boolean | number | string | Buffer | Reference | readonly PdfValue[] | Dictionary
export type Reference = { readonly reference: number }
export type Dictionary = ReadonlyMap<string, PdfValue>

/** Deeper nesting than any program writes. */
const deepest = 50

const space = /[\0\t\n\f\r ]*(?:%[^\r\n]*[\r\n\0\t\f ]*)*/y
const reference = /(\d{1,10})[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]+R(?![^\0\t\n\f\r ()<>[\]{}/%])/y
const number = /[+-]?(?:\d+\.?\d*|\.\d+)/y
const name = /\/[^\0\t\n\f\r ()<>[\]{}/%]*/y
const word = /true|false|null/y

export function damaged (what: string): UnreadableInvoice {
  return new UnreadableInvoice('not_a_pdf', `The PDF is damaged: ${what}.`)
}

/** Reads objects of a text, in which each byte is a character, from a position on. */
export class PdfReader {
  readonly text: string
  at: number

  constructor (text: string, at: number) {
    this.text = text
    this.at = at
  }

  /** What matches here; undefined where nothing does. */
  take (pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)
    if (found !== null) this.at = pattern.lastIndex
    return found ?? undefined
  }

  skipSpace (): void {
    this.take(space)
  }

  /** Whether this comes next; it is taken. */
  takes (token: string): boolean {
    this.skipSpace()
    if (!this.text.startsWith(token, this.at)) return false
    this.at += token.length
    return true
  }

  value (depth = 0): PdfValue {
    if (depth > deepest) throw new UnreadableInvoice('too_large', `The PDF nests objects in more than ${deepest} levels.`)
    this.skipSpace()
    if (this.takes('<<')) return this.dictionary(depth)
    if (this.takes('[')) {
      const list: PdfValue[] = []
      while (!this.takes(']')) list.push(this.value(depth + 1))
      return list
    }
    if (this.takes('(')) return this.literal()
    if (this.takes('<')) return this.hexadecimal()
    const named = this.take(name)
    if (named !== undefined) return named[0].replaceAll(/#([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    const referred = this.take(reference)
    if (referred !== undefined) return { reference: Number(referred[1]) }
    const counted = this.take(number)
    if (counted !== undefined) return Number(counted[0])
    const said = this.take(word)
    if (said !== undefined) return said[0] === 'null' ? null : said[0] === 'true'
    throw damaged(`there is no object at byte ${this.at}`)
  }

  private dictionary (depth: number): Dictionary {
    const entries = new Map<string, PdfValue>()
    while (!this.takes('>>')) {
      const key = this.value(depth + 1)
      if (typeof key !== 'string') throw damaged(`a dictionary has no name at byte ${this.at}`)
      entries.set(key, this.value(depth + 1))
    }
    return entries
  }

  /** A text in parentheses, which may contain others. */
  private literal (): Buffer {
    const bytes: number[] = []
    for (let open = 1;;) {
      const character = this.text.charCodeAt(this.at++)
      if (Number.isNaN(character)) throw damaged('a text does not end')
      if (character === 0x5C) {
        const octal = this.take(/[0-7]{1,3}/y)
        if (octal !== undefined) bytes.push(parseInt(octal[0], 8) & 0xFF)
        else if (this.take(/\r\n?|\n/y) === undefined) {
          bytes.push(escapes[this.text[this.at] ?? ''] ?? this.text.charCodeAt(this.at), ...this.skip())
        }
        continue
      }
      if (character === 0x28) open++
      if (character === 0x29 && --open === 0) return Buffer.from(bytes)
      bytes.push(character)
    }
  }

  private skip (): number[] {
    this.at++
    return []
  }

  private hexadecimal (): Buffer {
    const digits = this.take(/[0-9A-Fa-f\s\0]*>/y)
    if (digits === undefined) throw damaged('a text of hexadecimal digits does not end')
    const plain = digits[0].replaceAll(/[^0-9A-Fa-f]/g, '')
    return Buffer.from(plain.length % 2 === 1 ? `${plain}0` : plain, 'hex')
  }
}

const escapes: Readonly<Record<string, number>> = { n: 0x0A, r: 0x0D, t: 0x09, b: 0x08, f: 0x0C }

export function isReference (value: PdfValue | undefined): value is Reference {
  return typeof value === 'object' && value !== null && 'reference' in value
}

export function isDictionary (value: PdfValue | undefined): value is Dictionary {
  return value instanceof Map
}

export function isList (value: PdfValue | undefined): value is readonly PdfValue[] {
  return Array.isArray(value)
}

/** A text in the encodings of PDF. */
export function textIn (value: PdfValue | undefined): string | undefined {
  if (!Buffer.isBuffer(value)) return undefined
  if (value[0] === 0xFE && value[1] === 0xFF) return new TextDecoder('utf-16be').decode(value)
  return value[0] === 0xEF && value[1] === 0xBB && value[2] === 0xBF ? new TextDecoder().decode(value) : value.toString('latin1')
}
