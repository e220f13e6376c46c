/** The namespaces of the parts of a workbook (ECMA-376-1, annex A). */
export const namespace = {
  main: 'http://schemas.openxmlformats.org/spreadsheetml/2006/main',
  relations: 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
} as const
