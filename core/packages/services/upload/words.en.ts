export const en = {
  service_upload: 'Upload',
  delivery_processing: 'being processed',
  delivery_available: 'stored',
  delivery_deleted: 'deleted'
}
