// The bundler turns an imported style sheet into page.css; to the type checker it is a module without exports.
declare module "*.css";
