/** The tables of a TrueType file (OpenType 1.9, "Organization of an OpenType Font"), as views of its bytes. */
export type FontTables = Readonly<Record<string, Buffer>>

/** Reads the directory of a font file. */
export function readTables (file: Buffer): FontTables {
  const count = file.readUInt16BE(4)
  return Object.fromEntries(Array.from({ length: count }, (_, index) => {
    const record = 12 + 16 * index
    const offset = file.readUInt32BE(record + 8)
    return [file.toString('latin1', record, record + 4), file.subarray(offset, offset + file.readUInt32BE(record + 12))]
  }))
}

/** A table that every TrueType font has. */
export function tableOf (tables: FontTables, tag: string): Buffer {
  const table = tables[tag]
  if (table === undefined) throw new TypeError(`The font has no table "${tag}": it is not a TrueType font.`)
  return table
}

/** A font file of these tables: the directory, then each table at a multiple of four bytes. */
export function writeTables (tables: FontTables): Buffer {
  const entries = Object.entries(tables).sort(([a], [b]) => a < b ? -1 : 1)
  const start = 12 + 16 * entries.length
  const file = Buffer.alloc(entries.reduce((size, [, table]) => size + padded(table.length), start))
  const power = Math.floor(Math.log2(entries.length))
  file.writeUInt32BE(0x00010000, 0)
  file.writeUInt16BE(entries.length, 4)
  file.writeUInt16BE(16 * 2 ** power, 6)
  file.writeUInt16BE(power, 8)
  file.writeUInt16BE(16 * entries.length - 16 * 2 ** power, 10)
  let offset = start
  for (const [index, [tag, table]] of entries.entries()) {
    const record = 12 + 16 * index
    file.write(tag, record, 'latin1')
    table.copy(file, offset)
    file.writeUInt32BE(checksum(file.subarray(offset, offset + padded(table.length))), record + 4)
    file.writeUInt32BE(offset, record + 8)
    file.writeUInt32BE(table.length, record + 12)
    offset += padded(table.length)
  }
  return file
}

function padded (length: number): number {
  return Math.ceil(length / 4) * 4
}

/** The sum of the table's 32-bit words. */
function checksum (table: Buffer): number {
  let sum = 0
  for (let at = 0; at < table.length; at += 4) sum = (sum + table.readUInt32BE(at)) >>> 0
  return sum
}
