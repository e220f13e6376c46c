import { deflateSync } from 'node:zlib'

/** A PDF of objects, by number from 1, with a table of them and a trailer. */
export function pdfOf (objects: readonly (string | Buffer)[], trailer = '/Root 1 0 R'): Buffer {
  const parts = [Buffer.from('%PDF-1.7\n')]
  const offsets = objects.map((object, index) => {
    const at = parts.reduce((length, part) => length + part.length, 0)
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n'))
    return at
  })
  const start = parts.reduce((length, part) => length + part.length, 0)
  const rows = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`)
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows.join('')}`
  return Buffer.concat([...parts,
    Buffer.from(`${table}trailer\n<< /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${start}\n%%EOF\n`)])
}

/** A stream, packed unless told. */
export function streamOf (content: Buffer, entries = ''): Buffer {
  const packed = deflateSync(content)
  return Buffer.concat([
    Buffer.from(`<< ${entries} /Filter /FlateDecode /Length ${packed.length} >>\nstream\n`),
    packed,
    Buffer.from('\nendstream')
  ])
}

/** A PDF with one file in it. */
export function pdfWith (content: Buffer, name = 'factur-x.xml', trailer?: string): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Names << /EmbeddedFiles 2 0 R >> >>',
    `<< /Names [(${name}) 3 0 R] >>`,
    `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F 4 0 R >> >>`,
    streamOf(content, '/Type /EmbeddedFile')
  ], trailer)
}

/** The same, with its objects in a stream, and its table in another one with a predictor. */
export function modernPdfWith (content: Buffer, name: string): Buffer {
  const objects = [
    '<< /Type /Catalog /AF [2 0 R] >>',
    `<< /Type /Filespec /UF <FEFF${Buffer.from(name, 'utf16le').swap16().toString('hex')}> /EF << /UF 3 0 R >> >>`
  ]
  const head = `1 0 2 ${(objects[0] ?? '').length + 1} `
  const head1 = Buffer.from('%PDF-2.0\n% é\n')
  const three = Buffer.concat([Buffer.from('3 0 obj\n'), streamOf(content), Buffer.from('\nendobj\n')])
  const four = Buffer.concat([
    Buffer.from('4 0 obj\n'),
    streamOf(Buffer.from(head + objects.join(' ')), `/Type /ObjStm /N 2 /First ${head.length}`),
    Buffer.from('\nendobj\n')
  ])
  const at = head1.length + three.length + four.length
  const rows = [[0, 0, 0], [2, 4, 0], [2, 4, 1], [1, head1.length, 0], [1, head1.length + three.length, 0], [1, at, 0]].map(
    ([type = 0, second = 0, third = 0]) => Buffer.from([type, second >> 16, (second >> 8) & 255, second & 255, third])
  )
  // Each row is the difference to the one above (predictor 12).
  const predicted = rows.map((row, index) =>
    Buffer.from([2, ...row.map((byte, column) => (byte - (rows[index - 1]?.[column] ?? 0)) & 255)])
  )
  const five = Buffer.concat([
    Buffer.from('5 0 obj\n'),
    streamOf(Buffer.concat(predicted), '/Type /XRef /Size 6 /W [1 3 1] /Root 1 0 R /DecodeParms << /Predictor 12 /Columns 5 >>'),
    Buffer.from(`\nendobj\nstartxref\n${at}\n%%EOF`)
  ])
  return Buffer.concat([head1, three, four, five])
}
