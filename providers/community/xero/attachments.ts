import { type DocumentHandle, plainFileName, Type } from '@dispatch/core/provider'
import { pathOf } from './api.ts'
import { ask, type Call } from './request.ts'

/** https://developer.xero.com/documentation/api/accounting/attachments: of each invoice, and bytes of each file. */
export const attachmentLimits = { most: 10, maxSize: 10 * 1024 * 1024 }

const Attachments = Type.Object({ Attachments: Type.Array(Type.Object({ AttachmentID: Type.String({ minLength: 1 }) })) })

/**
 * Puts files beside a draft: an invoice is never issued without them. Xero replaces a file by one of the same name, so that a repeated call
 * leaves each of them once. The customer sees them with the online invoice.
 */
export async function attach (draft: string, files: readonly DocumentHandle[], call: Call): Promise<void> {
  const names = namesOf(files)
  for (const [index, document] of files.entries()) {
    const [url, request] = await ask(call, `${pathOf(draft)}/Attachments/${encodeURIComponent(names[index] ?? '')}`, {
      query: { IncludeOnline: 'true' },
      headers: { 'content-type': document.contentType },
      document
    })
    await call.http.put(url, request, Attachments)
  }
}

/** The names of files in a folder, each once: `a.pdf`, `a (2).pdf`. */
function namesOf (files: readonly DocumentHandle[]): string[] {
  const taken = new Set<string>()
  return files.map(({ filename }) => {
    const plain = plainFileName(filename)
    const dot = plain.lastIndexOf('.')
    const [stem, ending] = dot > 0 ? [plain.slice(0, dot), plain.slice(dot)] : [plain, '']
    let name = plain
    for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${stem} (${number})${ending}`
    taken.add(name.toLowerCase())
    return name
  })
}
