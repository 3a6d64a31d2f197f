"""The families, one module each: parameters, footfalls and shifts of weight, manner."""
