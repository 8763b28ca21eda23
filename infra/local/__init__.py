"""The laptop cloud: the packaged template in moto, its Lambdas, a gateway and a clock around it."""
