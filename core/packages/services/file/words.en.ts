export const en = {
  service_file: 'File',
  field_outputFormat: 'Format',
  field_filename: 'Name of the file',
  help_filename: 'A missing extension is added.'
}
