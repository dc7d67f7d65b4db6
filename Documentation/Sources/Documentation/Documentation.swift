// The catalogues lie beside the sources of the libraries; this target only leads to these.
